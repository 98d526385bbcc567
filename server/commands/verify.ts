import type { Command } from 'commander';
import { verifyFile } from '../../data/store/verify.ts';
import { bytesText, countText } from '../observe/quantities.ts';
import { example, type Outputs } from './parts.ts';
import { tableText, withProgress } from './terminal.ts';

export function defineVerify(command: Command, { stdout, stderr }: Outputs): void {
  command
    .argument('<file>', 'snapshot file')
    .option('--deep', DEEP_HELP)
    .addHelpText('after', example('verify --deep catalogue.snapshot'))
    .action(async (file: string, { deep: isDeep = false }: { readonly deep?: boolean }) => {
      const verify = isDeep ? (await import('../../data/verifyDeep.ts')).verifyDeep : verifyFile;
      const report = await withProgress(stderr, (onProgress) => verify(file, onProgress));
      stdout.write(`${verifyText(report, file)}\n`);
    });
}

const DEEP_HELP = 'import its records again and compare; needs 2.5 times its size in TMPDIR';

type VerifyReport = Awaited<ReturnType<typeof verifyFile>>;

/** The checks with their outcomes, the records of each collection, and the bytes of each part. */
function verifyText(report: VerifyReport, file: string): string {
  const collections = report.collections.map(({ name, records }) => [name, countText(records)]);
  const total = report.parts.reduce((sum, { bytes }) => sum + bytes, 0);
  const parts = report.parts.map(({ name, bytes }) => [
    name,
    bytesText(bytes),
    `${((bytes / total) * 100).toFixed(1)} %`,
  ]);
  const created = report.created === undefined ? '' : `, data of ${report.created}`;
  return [
    tableText([['check', 'outcome'], ...report.checks.map(({ name, outcome }) => [name, outcome])]),
    '',
    tableText([['collection', 'records'], ...collections]),
    '',
    tableText([['part', 'bytes', 'share'], ...parts, ['total', bytesText(total), '']]),
    '',
    `${file} is good: generation ${report.generation}${created}`,
  ].join('\n');
}
