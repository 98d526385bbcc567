// Hostile heads: legal ones with responses that the oracle knows to the byte, and those of the grammar of hostile
// requests, on which both transports must agree. Sent alone, and sixty at once.
import { randomRequest } from '../../differential/requests.ts';
import { fuzzRequests } from '../../support/fuzz.ts';
import type { Random } from '../../support/random.ts';
import { outcomeOf, type Strain } from '../strain.ts';
import type { World } from '../world.ts';

const VERIFIED = 80;
const IN_FLIGHT = 8;
/** For each of the two transports: sixty at once. */
const HOSTILE = 30;
const ALONE = 20;

/** Legal requests, compared with the oracle: eight at once per transport, then again by tag and compressed. */
export const legalHeads: Strain = {
  name: 'legal heads',
  isCrowd: true,
  run: async (random, world) => {
    if (!world.dataSet) return outcomeOf({});
    const finds = await verifySome(random, world, VERIFIED);
    return outcomeOf({ verified: VERIFIED * 2, finds });
  },
};

/** Requests of the hostile grammar, one after another: the watching client waits for at most one of them. */
export const hostileHeads: Strain = {
  name: 'hostile heads',
  run: async (random, world) => {
    const finds: string[] = [];
    for (let i = 0; i < ALONE; i++) finds.push(...(await fuzzRequests(world.server, random, 1)));
    return outcomeOf({ tried: 2 * ALONE, finds });
  },
};

/** The hostile grammar again, with as many connections as one client has. */
export const crowdedHeads: Strain = {
  name: 'hostile heads at once',
  isCrowd: true,
  run: async (random, world) =>
    outcomeOf({ tried: 2 * HOSTILE, finds: await fuzzRequests(world.server, random, HOSTILE) }),
};

/** Sends `count` random requests to both transports. Returns what is wrong with the responses. */
export async function verifySome(random: Random, world: World, count: number, to = world.server): Promise<string[]> {
  const finds: string[] = [];
  if (!world.dataSet) return finds;
  const requests = Array.from({ length: count }, () => randomRequest(random, world.dataSet!));
  for (let i = 0; i < count; i += IN_FLIGHT) {
    const found = await Promise.all(requests.slice(i, i + IN_FLIGHT).map((request) => world.verify(request, to)));
    finds.push(...found.flat());
  }
  return finds;
}
