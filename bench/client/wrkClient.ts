// wrk as a load client, where it is installed: a client in C that others know, so that no figure hangs on the built-in
// one. As fast as answers come only: it knows no pace.
import { spawn, type ChildProcess } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { OperationError } from '../../data/operationError.ts';
import type { LoadClient, LoadOrder, LoadOutcome } from './loadClient.ts';
import { temporaryFolder } from '../processes/ending.ts';
import { stopped } from '../processes/processes.ts';
import { wireOf } from './wire.ts';

const ENOUGH = 'enough\n';
/** A shell becomes wrk with SIGINT ignored, so that one that comes before wrk listens for it does not end it. */
const DEAF_SHELL = ['-c', 'trap "" INT; exec wrk "$@"', 'sh'] as const;
/** What a shell ends with that does not find its program. */
const NOT_FOUND = 127;
/** wrk misses a SIGINT that comes before it sleeps, so it comes again so often. */
const AGAIN_MS = 10;

/**
 * A client that runs wrk with one thread. It checks status and length of every answer against those of all exchanges of
 * the order, since it does not know which of them an answer is to. `run` rejects with OperationError `refused` where
 * wrk is missing.
 */
export function startWrkClient(): LoadClient {
  const folder = temporaryFolder('catalogue-wrk-');
  const script = path.join(folder.path, 'load.lua');
  let running: ChildProcess | undefined;
  return {
    async run(order) {
      if (order.perSecond !== undefined) throw new Error('wrk knows no pace');
      await writeFile(script, scriptOf(order), 'latin1');
      running = spawn('/bin/sh', [...DEAF_SHELL, ...flagsOf(order, script)], { stdio: ['ignore', 'pipe', 'pipe'] });
      const outcome = await outcomeOf(running);
      running = undefined;
      if (outcome.fault !== undefined) throw new Error(outcome.fault);
      if (outcome.requests < order.requests) throw new Error(`${order.exchanges[0]!.target}: no end in time`);
      return outcome;
    },
    enough: () => void running?.kill('SIGINT'),
    async stop() {
      if (running) await stopped(running);
      folder.remove();
    },
  };
}

function flagsOf({ port, connections, withinMs }: LoadOrder, script: string): readonly string[] {
  const seconds = `${Math.ceil(withinMs / 1000)}s`;
  const flags = { '--threads': '1', '--connections': `${connections}`, '--duration': seconds, '--timeout': seconds };
  return [...Object.entries(flags).flat(), '--script', script, `http://127.0.0.1:${port}`];
}

/** Ends wrk when it says that it has had enough, and reads the outcome that its script prints last. */
function outcomeOf(child: ChildProcess): Promise<LoadOutcome> {
  let printed = '';
  let ending: NodeJS.Timeout | undefined;
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.stdout!.on('data', (piece: Buffer) => {
      printed += piece.toString('latin1');
      if (printed.startsWith(ENOUGH) || printed.includes(`\n${ENOUGH}`)) {
        ending ??= setInterval(() => child.kill('SIGINT'), AGAIN_MS);
      }
    });
    child.stderr!.on('data', (piece: Buffer) => (printed += piece.toString('latin1')));
    child.once('close', (code) => {
      clearInterval(ending);
      const line = printed.split('\n').find((one) => one.startsWith('{'));
      if (line !== undefined) resolve(JSON.parse(line) as LoadOutcome);
      else if (code === NOT_FOUND) reject(new OperationError('refused', 'wrk is not installed'));
      else reject(new Error(`wrk ended with ${code} and said nothing of its requests:\n${printed}`));
    });
  });
}

/** The script of an order: what it asks in turn, what it expects, and what it prints. */
function scriptOf({ exchanges, requests }: LoadOrder): string {
  const wires = exchanges.map((exchange) => luaText(wireOf(exchange)));
  const answers = exchanges.map(
    ({ status, bytes, bytesSlack = 0 }) => `{${status},${bytes - bytesSlack},${bytes + bytesSlack}}`,
  );
  return `local wires = {${wires.join(',\n')}}
local answers = {${[...new Set(answers)].join(',')}}
local asked = 0
answered, bodyBytes, fault = 0, 0, ""

function request()
  asked = asked + 1
  return wires[(asked - 1) % #wires + 1]
end

local function isExpected(status, bytes)
  for _, answer in ipairs(answers) do
    if status == answer[1] and bytes >= answer[2] and bytes <= answer[3] then return true end
  end
  return false
end

function response(status, headers, body)
  answered = answered + 1
  bodyBytes = bodyBytes + #body
  if not isExpected(status, #body) and fault == "" then
    fault = "got status " .. status .. " and " .. #body .. " bytes, which no request of this load expects"
  end
  if fault ~= "" or answered == ${requests} then
    io.write("enough\\n") io.flush()
    wrk.thread:stop()
  end
end

local threads = {}
function setup(thread) table.insert(threads, thread) end

function done(summary, latency)
  local thread, errors = threads[1], summary.errors
  local text = thread:get("fault")
  if text == "" and errors.connect + errors.read + errors.write + errors.timeout > 0 then
    text = string.format("%d connections refused, %d broken while reading, %d while writing, %d answers too late",
      errors.connect, errors.read, errors.write, errors.timeout)
  end
  io.write(string.format('{"requests":%d,"errors":0,"bodyBytes":%.0f,"elapsedMs":%f,"p50Ms":%f,"p99Ms":%f,"p999Ms":%f%s}\\n',
    thread:get("answered"), thread:get("bodyBytes"), summary.duration / 1000, latency:percentile(50) / 1000,
    latency:percentile(99) / 1000, latency:percentile(99.9) / 1000,
    text == "" and "" or ',"fault":"' .. text .. '"'))
end
`;
}

/** Bytes as a string of Lua: what is not a plain letter by its number. */
function luaText(bytes: Buffer): string {
  const text = bytes
    .toString('latin1')
    .replace(/[^ !#-[\]-~]/g, (one) => `\\${String(one.charCodeAt(0)).padStart(3, '0')}`);
  return `"${text}"`;
}
