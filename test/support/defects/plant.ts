// Plants a defect into all threads of a server: `node --import 'plant.ts?defect=NAME' server/commands/cli.ts serve`.
// Some modules of the server then import the defect's module instead of the one that it replaces.
import { registerHooks } from 'node:module';

/**
 * A replaced module, and the modules that import the replacement. The rest of the server, and the defect, import the
 * real one.
 */
interface Place {
  readonly spoilt: string;
  readonly victims: RegExp;
}

const AUTHORITY: Place = { spoilt: 'server/authority/authorise.ts', victims: /\/server\/authority\/thread\.ts$/ };
/** In the catalogue, only the modules that respond to requests see the defect. */
const ENGINE: Place = { spoilt: 'engine/engine.ts', victims: /\/server\/catalogue\/(list|rows)\.ts$/ };

const defect = new URL(import.meta.url).searchParams.get('defect') ?? '';
const { spoilt, victims } = defect.endsWith('Authority') ? AUTHORITY : ENGINE;
const real = new URL(`../../../${spoilt}`, import.meta.url).href;
const module = defect === 'hop' || defect === 'brokenAuthority' ? defect : 'bodies';
const planted = new URL(`./${module}.ts?defect=${defect}`, import.meta.url).href;

registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    const isVictim = victims.test(context.parentURL ?? '');
    return isVictim && resolved.url === real ? { ...resolved, url: planted } : resolved;
  },
});
