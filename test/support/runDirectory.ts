import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    readonly runDirectory: string;
  }
}

/**
 * Makes a directory that all files of a test run share, provides its path to them, and returns a function that removes
 * it. Vitest calls this in its main process (`globalSetup`).
 */
export function setup(project: TestProject): () => void {
  const directory = mkdtempSync(join(tmpdir(), 'catalogue-run-'));
  project.provide('runDirectory', directory);
  return () => rmSync(directory, { recursive: true, force: true });
}
