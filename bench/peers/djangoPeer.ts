// Django REST Framework as a peer: Debian's packages, gunicorn with one worker, SQLite. The database is filled once for
// each state of the data and of the program.
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import { textHash } from '../load/dataSet.ts';
import { familyOf, removedAtEnd } from '../processes/ending.ts';
import { startListening, type ListeningProcess } from '../processes/processes.ts';

const PYTHON = '/usr/bin/python3';
const GUNICORN = '/usr/bin/gunicorn';
const PROGRAMS = fileURLToPath(new URL('./programs', import.meta.url));
const SERVICE = path.join(PROGRAMS, 'djangoService.py');

/** The Debian packages, each with a file that only it installs. */
const PACKAGES = {
  gunicorn: GUNICORN,
  'python3-djangorestframework': '/usr/lib/python3/dist-packages/rest_framework/__init__.py',
  'python3-django-filters': '/usr/lib/python3/dist-packages/django_filters/__init__.py',
};

/** Python leaves no compiled files next to the programs. */
const SPAWN = { cwd: PROGRAMS, env: { PYTHONDONTWRITEBYTECODE: '1' } };

/**
 * Starts the peer over the data set of a directory. `pid` is that of gunicorn's worker. Rejects if packages are
 * missing. Cost: minutes for 100,000 observations, then a second while the data and the program stay the same.
 */
export async function startDjangoPeer(directory: string, cacheDirectory: string): Promise<ListeningProcess> {
  const missing = Object.entries(PACKAGES).filter(([, file]) => !existsSync(file));
  if (missing.length > 0) throw new Error(`not installed: ${missing.map(([name]) => name).join(', ')}`);
  const { mtimeMs } = await stat(path.join(directory, 'observations.ndjson'));
  const program = await readFile(SERVICE, 'utf8');
  const name = textHash(`${mtimeMs} ${program} ${argumentOf(directory, '')}`);
  const database = path.join(cacheDirectory, 'peers', `${name}.sqlite`);
  if (!existsSync(database)) await fill(directory, database);
  const application = ['djangoService:application', argumentOf(directory, database)];
  const master = await startListening(GUNICORN, ['--config', 'gunicorn.conf.py', ...application], SPAWN);
  const [, worker] = familyOf(master.pid);
  return { ...master, pid: worker! };
}

/** The program serves as soon as it has filled its database. */
async function fill(directory: string, database: string): Promise<void> {
  await mkdir(path.dirname(database), { recursive: true });
  const unfinished = removedAtEnd(`${database}.unfinished`);
  await rm(unfinished, { force: true });
  const service = await startListening(PYTHON, [SERVICE, argumentOf(directory, unfinished)], SPAWN);
  await service.stop();
  await rename(unfinished, database);
}

/** Questions are about observations. Their links need no records. */
function argumentOf(directory: string, database: string): string {
  return JSON.stringify({ collections: COLLECTIONS, directory, database, filled: ['observations'] });
}
