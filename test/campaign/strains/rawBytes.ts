import { fuzzBytes, abandonedFlood, abandonedPages } from '../../support/fuzz.ts';
import { outcomeOf, type Strain } from '../strain.ts';
import { verifySome } from './heads.ts';

/** For each of the two transports: sixty at once. */
const CONNECTIONS = 30;
const VERIFIED = 8;
const LEAVING = 20;

/** Broken framing, noise and floods of header lines, while the oracle verifies other requests. */
export const rawBytes: Strain = {
  name: 'raw bytes',
  isCrowd: true,
  run: async (random, world) => {
    const [bytes, wrong] = await Promise.all([
      fuzzBytes(world.server, random, { count: CONNECTIONS, leaves: true }),
      verifySome(random, world, VERIFIED),
    ]);
    return outcomeOf({
      verified: world.dataSet ? VERIFIED * 2 : 0,
      tried: CONNECTIONS * 2,
      finds: [...bytes, ...wrong],
    });
  },
};

/** Clients that break their connections before a response can have arrived, or read nothing of it. */
export const vanishing: Strain = {
  name: 'vanishing clients',
  isCrowd: true,
  run: async (random, world) => {
    for (const port of [world.server.port, world.server.http10Port]) {
      await abandonedFlood(port, LEAVING);
      await abandonedPages(port, LEAVING);
    }
    const finds = await verifySome(random, world, VERIFIED);
    return outcomeOf({ verified: world.dataSet ? VERIFIED * 2 : 0, injected: 4 * LEAVING, finds });
  },
};
