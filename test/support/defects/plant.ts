// Plants a defect into a server: `node --import 'plant.ts?defect=NAME' server/commands/cli.ts serve`, in all of its
// threads. Some modules of the server then see the defect's module in place of the one it spoils.
import { registerHooks } from 'node:module';

/**
 * What a defect takes the place of, and the modules that see it there: the rest of the server, and the defect, see the
 * real one.
 */
interface Place {
  readonly spoilt: string;
  readonly victims: RegExp;
}

const AUTHORITY: Place = { spoilt: 'server/authority/authorise.ts', victims: /\/server\/authority\/thread\.ts$/ };
/** Of the engine it is what answers requests that sees a defect. */
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
