import { join } from 'node:path';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import { runProgram } from './commandProcess.ts';
import { hasLibrary } from './debian.ts';
import { ROOT } from './sources.ts';

/** Whether the Debian packages of the service are installed. */
export const hasDjango = hasLibrary('python3-djangorestframework') && hasLibrary('python3-django-filters');

export interface DjangoSwitches {
  readonly validators?: 'etag' | 'lastModified' | undefined;
  readonly dates?: boolean;
  readonly ignores?: 'filters' | 'all' | undefined;
  readonly login?: 'page' | 'redirect';
  readonly limitMax?: number;
  readonly slowMs?: number;
  readonly gzip?: boolean;
}

type DataSetRecord = Readonly<Record<string, unknown>>;

/** Records to create or to replace, and ids to delete, by collection. */
export interface DjangoChanges {
  /** The time of the changes, without a zone. The first records are of January 2024. */
  readonly at: string;
  readonly saved?: Readonly<Record<string, readonly DataSetRecord[]>>;
  readonly deleted?: Readonly<Record<string, readonly number[]>>;
}

export interface Django {
  /** The base URL of the stock service. */
  readonly url: string;
  /** Sets the switches of a name, and returns the base URL that has them. */
  switch(name: string, switches: DjangoSwitches): Promise<string>;
  /** Applies all changes in one transaction. */
  change(changes: DjangoChanges): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts the declared collections on Django REST Framework (djangoService.py documents the switches), on a free port.
 * Its new database file gets the records of a data set directory.
 */
export async function startDjango(directory: string, database: string): Promise<Django> {
  const start = JSON.stringify({ collections: COLLECTIONS, directory, database });
  const service = runProgram('/usr/bin/python3', [join(ROOT, 'bench/peers/programs/djangoService.py'), start]);
  const [, url] = await service.printed(/listening on (http:\S+)\n/);
  const post = async (path: string, body: object): Promise<void> => {
    const response = await fetch(`${url}/${path}/`, { method: 'POST', body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`the service answered ${response.status}:\n${service.err()}`);
  };
  return {
    url: url!,
    switch: async (name, switches) => {
      await post('switches', { [name]: switches });
      return `${url}/${name}`;
    },
    change: (changes) => post('changes', changes),
    stop: () => service.kill(),
  };
}
