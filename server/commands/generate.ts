import type { Command } from 'commander';
import { readdirSync } from 'node:fs';
import { OperationError } from '../../data/operationError.ts';
import { generate } from '../../data/synth/generate.ts';
import { bytesText, countText } from '../observe/quantities.ts';
import { integerBetween } from '../settings/values.ts';
import { example, type Outputs, valueOption } from './parts.ts';
import { withProgress } from './terminal.ts';

interface GenerateFlags {
  readonly observations: number;
  readonly seed: number;
  readonly output: string;
  readonly gzip?: boolean;
  readonly force?: boolean;
}

export function defineGenerate(command: Command, { stdout, stderr }: Outputs): void {
  command
    .addOption(valueOption('--observations', 'observations to write', OBSERVATIONS).makeOptionMandatory())
    .addOption(valueOption('--seed', 'seed of the random numbers', SEED).default(1))
    .requiredOption('-o, --output <directory>', 'directory to write to')
    .option('--gzip', 'write .ndjson.gz files')
    .option('--force', 'write even if the directory is not empty')
    .addHelpText('after', example('generate --observations 100000 --seed 7 -o catalogue/'))
    .action(async ({ observations, seed, output, gzip = false, force = false }: GenerateFlags) => {
      if (!force) refuseFilled(output);
      const options = { observations, seed, directory: output, gzip };
      const { records, bytes, collections } = await withProgress(stderr, (onProgress) => generate(options, onProgress));
      const count = Object.keys(collections).length;
      stdout.write(`${output}: ${countText(records)} records in ${count} collections, ${bytesText(bytes)}\n`);
    });
}

function refuseFilled(directory: string): void {
  let names: readonly string[];
  try {
    names = readdirSync(directory);
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return;
    throw new OperationError('file', `${directory} cannot be read as a directory`, cause);
  }
  if (names.length > 0) throw new OperationError('usage', `${directory} is not empty; --force writes to it anyway`);
}

/** A thousand times the largest known catalogue. */
const OBSERVATIONS = integerBetween(1, 100_000_000);
const SEED = integerBetween(0, Number.MAX_SAFE_INTEGER);
