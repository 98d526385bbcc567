// Instructions per request of the server and of the bare control: the cost of the hot routes without noise. Prints
// nothing.
import { OperationError } from '../../data/operationError.ts';
import { openBenchAuthority } from '../authority/authorityFiles.ts';
import { checkCall } from '../authority/callCheck.ts';
import { checkQuestions } from '../scenarios/check.ts';
import { choiceFor } from '../scenarios/choice.ts';
import { bareLoad } from '../scenarios/controlLoads.ts';
import { prepareDataSet, type DataSetOptions } from './dataSet.ts';
import { COUNTING_COMMAND, instructionsOf } from '../processes/instructionCounts.ts';
import type { LoadObserver } from './load.ts';
import { startLoadClient, type LoadClient } from '../client/loadClient.ts';
import { readNaively } from '../scenarios/naive.ts';
import { chosenOf } from '../scenarios/only.ts';
import { startControl, startServer, type ListeningProcess } from '../processes/processes.ts';
import type { Load } from './rounds.ts';
import type { Scenario } from '../scenarios/scenario.ts';
import { SCENARIOS } from '../scenarios/scenarios.ts';
import { onStage } from '../processes/stage.ts';

/** Counts the scenarios in `only`; `record`, `list` and `trustedHosts` if it is empty. */
export interface InstructionOptions extends DataSetOptions {
  readonly only: readonly string[];
}

/** Instructions per request of a scenario and of its control. */
export interface InstructionReport {
  readonly name: string;
  readonly what: string;
  readonly subject: number;
  readonly control: string;
  readonly bare: number;
}

const HOT: readonly string[] = ['record', 'list', 'trustedHosts'];
/** Requests after which the runtime has compiled all hot code, and those of one count. */
const WARM_UP_REQUESTS = 12_000;
const COUNTED_REQUESTS = 2000;
/** The minimum of this many counts is used, because some include garbage collection or a late compilation. */
const COUNTS = 3;
/** Valgrind runs one thread at a time, so more connections would not help. */
const CONNECTIONS = 1;
const FLOOR_BYTES = 64 << 20;
const WITHIN_MS = 600_000;

/**
 * Counts the instructions of scenarios. Rejects with OperationError `usage` for a scenario that is not compared with
 * the bytes of the bare control. Also rejects if a response differs from the naively read rows. Cost: about 50 times
 * that of a plain run, half a minute for each scenario.
 */
export async function runInstructionBench(
  options: InstructionOptions,
  observer: LoadObserver,
): Promise<readonly InstructionReport[]> {
  const scenarios = countedOf(options.only);
  const data = await prepareDataSet(options, observer.onProgress);
  observer.onStep('reading the NDJSON naively');
  const choice = choiceFor(await readNaively(data.directory));
  return onStage(async (stage) => {
    // Makes the compressed records at full speed, so that the start under valgrind finds them next to the snapshot.
    await (await startServer(data.snapshot)).stop();
    const authority = await stage.started(openBenchAuthority());
    observer.onStep('starting server and control under valgrind');
    const servers = new Map<string, ListeningProcess>();
    for (const { flags = [] } of scenarios) {
      const started = { under: COUNTING_COMMAND, flags: [...authority.flags, ...flags] };
      const key = flags.join(' ');
      if (!servers.has(key)) servers.set(key, await stage.started(startServer(data.snapshot, started)));
    }
    const control = await stage.started(startControl(FLOOR_BYTES, COUNTING_COMMAND));
    const client = await stage.started(startLoadClient());
    const reports: InstructionReport[] = [];
    for (const scenario of scenarios) {
      const { name, what, control: kind, flags = [] } = scenario;
      const server = servers.get(flags.join(' '))!;
      observer.onStep(`counting ${name}`);
      const { exchanges } =
        'call' in scenario
          ? await checkCall(server.port, scenario.call, authority)
          : await checkQuestions(server.port, scenario.questions(choice), choice.catalogue);
      const load: Load = { process: server, exchanges, requests: COUNTED_REQUESTS };
      const subject = await perRequest(client, load);
      const bare = await perRequest(client, bareLoad(control, kind, load, choice.word));
      reports.push({ name, what, subject, control: kind, bare });
    }
    return reports;
  });
}

const COUNTED_CONTROLS = ['bare', 'page', 'floor'] as const;

type CountedScenario = Scenario & { readonly control: (typeof COUNTED_CONTROLS)[number] };

function isCounted(scenario: Scenario): scenario is CountedScenario {
  return COUNTED_CONTROLS.some((control) => control === scenario.control);
}

function countedOf(only: readonly string[]): readonly CountedScenario[] {
  const chosen = chosenOf(SCENARIOS, only.length > 0 ? only : HOT);
  const other = chosen.find((one) => !isCounted(one));
  if (other === undefined) return chosen.filter(isCounted);
  const names = SCENARIOS.filter(isCounted).map(({ name }) => name);
  throw new OperationError(
    'usage',
    `${other.name} is not compared with bytes of a bare server; --instructions counts ${names.join(', ')}`,
  );
}

/** Instructions per request of a load once it is warm: the minimum of a few counts. */
async function perRequest(client: LoadClient, load: Load): Promise<number> {
  await ask(client, load, WARM_UP_REQUESTS);
  let least = Infinity;
  for (let i = 0; i < COUNTS; i++) {
    const before = await instructionsOf(load.process.pid);
    await ask(client, load, load.requests);
    least = Math.min(least, (await instructionsOf(load.process.pid)) - before);
  }
  return Math.round(least / load.requests);
}

async function ask(client: LoadClient, { process, exchanges }: Load, requests: number): Promise<void> {
  await client.run({ port: process.port, exchanges, requests, connections: CONNECTIONS, withinMs: WITHIN_MS });
}
