// A directory for what the files of one test run share, made before the first and removed behind the last. Vitest runs
// this in its own process, by `globalSetup`; test/support/sampleSnapshot.ts says what lies there.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    readonly runDirectory: string;
  }
}

/** Makes the directory, tells its path to all test files, and answers how it is removed. */
export function setup(project: TestProject): () => void {
  const directory = mkdtempSync(join(tmpdir(), 'catalogue-run-'));
  project.provide('runDirectory', directory);
  return () => rmSync(directory, { recursive: true, force: true });
}
