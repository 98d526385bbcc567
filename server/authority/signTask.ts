// A signing thread: decides about requests to be authorised, and signs. Started by Piscina, see signPool.ts.
// Never opens a socket or a file: its configuration comes with its start and never changes.
import os from 'node:os';
import { workerData } from 'piscina';
import { epochMs } from '../clock.ts';
import { authoriserOf } from './authorise.ts';
import type { Authorised } from './authorised.ts';
import type { AuthorisationRequest } from './authority.ts';
import type { AuthorityData } from './configuration/load.ts';

/** Where serving threads want the cores too, they get ten times as much of them, as beside heavy queries. */
const NICENESS = 10;

/**
 * A thread that runs keeps its core for a slice of a millisecond or more, however nice it is (EEVDF, Linux 6.6 and later): a
 * serving thread that wakes meanwhile waits. One that sleeps for a moment gives its core away.
 */
const PAUSE_MS = 0.01;
const nobody = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

function giveWay(): void {
  Atomics.wait(nobody, 0, 0, PAUSE_MS);
}

const authorise = authoriserOf(workerData as AuthorityData, giveWay);
// Linux gives each thread a priority of its own; elsewhere this would be that of the whole process.
if (os.platform() === 'linux') os.setPriority(NICENESS);

/** Answers one request now. What it throws is our bug. */
export function answerRequest(request: AuthorisationRequest): Authorised {
  return authorise(request, Math.floor(epochMs() / 1000));
}
