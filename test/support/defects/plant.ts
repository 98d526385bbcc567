// Plants a defect into a server: `node --import 'plant.ts?defect=NAME' server/cli.ts serve`, in all of its threads.
// The catalogue's handler then sees the defect's module in place of the engine's face. Called by guards.long.test.ts.
import { registerHooks } from 'node:module';

const FACE = new URL('../../../engine/engine.ts', import.meta.url).href;
const defect = new URL(import.meta.url).searchParams.get('defect');
const planted = new URL(`./${defect}.ts`, import.meta.url).href;

/** Modules that get the defect: those that answer requests. The rest of the server, and the defect itself, see the engine. */
const VICTIMS = /\/server\/catalogue(Rows)?\.ts$/;

registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    const isVictim = VICTIMS.test(context.parentURL ?? '');
    return isVictim && resolved.url === FACE ? { ...resolved, url: planted } : resolved;
  },
});
