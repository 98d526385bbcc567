// Untrusted data: snapshots, compressed records and data sets with bytes changed, cut and duplicated. A mutated
// snapshot replaces the served file. Whatever happens, the server keeps serving the old data as the oracle describes
// it.
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { importDirectory } from '../../../data/import/import.ts';
import { OperationError } from '../../../data/operationError.ts';
import { mutated } from '../../support/certificateFuzz.ts';
import { runServer } from '../../support/commandProcess.ts';
import type { Random } from '../../support/random.ts';
import { outcomeOf, type Strain } from '../strain.ts';
import { verifySome } from './heads.ts';

const SNAPSHOTS = 3;
const DATA_SETS = 5;
const VERIFIED = 8;

/** Mutated snapshots, offered to the running server. */
export const snapshots: Strain = {
  name: 'mutated snapshots',
  run: async (random, world) => {
    const { snapshot, admin } = world;
    const good = `${snapshot}.good`;
    copyFileSync(snapshot, good);
    const finds: string[] = [];
    const put = (bytes: Uint8Array): void => {
      writeFileSync(`${snapshot}.new`, bytes);
      renameSync(`${snapshot}.new`, snapshot);
    };
    try {
      const bytes = readFileSync(good);
      for (let i = 0; i < SNAPSHOTS; i++) {
        const changed = changedBytes(bytes, random);
        if (changed.equals(bytes)) continue;
        put(changed);
        const { status, body } = await admin.send({ method: 'POST', target: '/reload' });
        // If only records differ, the directory still names the same generation, and nothing is loaded.
        if (status < 400 && !body.includes('"unchanged"'))
          finds.push(`a mutated snapshot was taken: ${status} ${body}`);
        finds.push(...(await verifySome(random, world, VERIFIED)));
      }
    } finally {
      renameSync(good, snapshot);
    }
    const verified = world.dataSet ? 2 * SNAPSHOTS * VERIFIED : 0;
    return outcomeOf({ verified, tried: SNAPSHOTS, finds });
  },
};

/** Mutated blocks of compressed records next to a snapshot: a separate server rebuilds them and responds as before. */
export const blocks: Strain = {
  name: 'mutated blocks',
  run: async (random, world) => {
    const file = join(world.directory, 'blocks.snapshot');
    copyFileSync(world.snapshot, file);
    const start = (): ReturnType<typeof runServer> => runServer(['--data', file, ...world.flags]);
    const finds: string[] = [];
    try {
      await (await start()).kill();
      const name = readdirSync(world.directory).find(
        (one) => one.startsWith('blocks.snapshot.') && one.endsWith('.blocks'),
      );
      if (name === undefined) return outcomeOf({ finds: ['no blocks were made'] });
      const kept = join(world.directory, name);
      writeFileSync(kept, changedBytes(readFileSync(kept), random));
      const server = await start();
      try {
        finds.push(...(await verifySome(random, world, VERIFIED, server)));
      } finally {
        await server.kill();
      }
    } finally {
      for (const name of readdirSync(world.directory)) {
        if (name.startsWith('blocks.snapshot')) rmSync(join(world.directory, name), { force: true });
      }
    }
    return outcomeOf({ verified: world.dataSet ? 2 * VERIFIED : 0, tried: 1, finds });
  },
};

/**
 * Changes bytes anywhere in the file, which is mostly records, or in its first or last few kB, which hold the tables.
 */
function changedBytes(bytes: Buffer, random: Random): Buffer {
  const start = random.pick([0, random.integer(0, bytes.length), bytes.length - Math.min(bytes.length, 4096)]);
  const piece = mutated(bytes.subarray(start, start + 1024), bytes, random);
  return Buffer.concat([bytes.subarray(0, start), piece, bytes.subarray(start + 1024)]);
}

/** Mutated data sets: imported, or refused with a message. */
export const dataSets: Strain = {
  name: 'mutated data sets',
  run: async (random, { directory }) => {
    const finds: string[] = [];
    const scratch = join(directory, 'mutated');
    for (let i = 0; i < DATA_SETS; i++) {
      rmSync(scratch, { recursive: true, force: true });
      mkdirSync(scratch);
      cpSync(join(directory, 'source'), scratch, { recursive: true });
      const name = join(scratch, random.pick(readdirSync(scratch)));
      const bytes = readFileSync(name);
      writeFileSync(name, mutated(bytes, bytes, random));
      const isLenient = random.chance(0.5);
      const options = { directory: scratch, file: `${scratch}.snapshot`, created: undefined, isLenient, threads: 0 };
      await importDirectory(options, () => undefined).catch((error: unknown) => {
        if (!(error instanceof OperationError)) finds.push(`import of a mutated ${name}: ${String(error)}`);
      });
    }
    return outcomeOf({ tried: DATA_SETS, finds });
  },
};
