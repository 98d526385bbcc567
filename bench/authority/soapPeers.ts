// Other SOAP servers as peers of the attribute authority: gSOAP in C, compiled from the served WSDL, and node soap. A
// peer that cannot be compiled or started is omitted with its reason.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { textHash } from '../load/dataSet.ts';
import { removedAtEnd } from '../processes/ending.ts';
import { startListening, type ListeningProcess } from '../processes/processes.ts';
import type { HostsCall } from '../scenarios/scenario.ts';

const run = promisify(execFile);
const COMPILE_MS_MAX = 120_000;

/** Start options of a peer: a folder to build in, the served WSDL, and the expected response. */
export interface SoapPeerOptions {
  readonly folder: string;
  readonly wsdl: string;
  readonly call: HostsCall;
}

/**
 * Another SOAP server. `pass` is the fraction of its CPU that ours may need, if the design has one. `budget` names the
 * budget of the ratio.
 */
export interface SoapPeer {
  readonly name: string;
  readonly budget: string;
  readonly pass: number | undefined;
  start(options: SoapPeerOptions): Promise<ListeningProcess>;
}

export const SOAP_PEERS: readonly SoapPeer[] = [
  { name: 'gSOAP in C', budget: 'gsoap', pass: 0.45, start: startGsoap },
  { name: 'node soap', budget: 'nodeSoap', pass: undefined, start: startNodeSoap },
];

/** Starts a peer, or returns the reason in one line if it is not available. */
export async function startSoapPeer(
  peer: SoapPeer,
  options: SoapPeerOptions,
): Promise<ListeningProcess | { readonly missing: string }> {
  try {
    return await peer.start(options);
  } catch (error) {
    return { missing: (error instanceof Error ? error.message : String(error)).split('\n', 1)[0]! };
  }
}

async function startGsoap({ folder, wsdl, call }: SoapPeerOptions): Promise<ListeningProcess> {
  const source = sourceOf('gsoapServer.c');
  const { stdout: version } = await run('soapcpp2', ['-V']);
  const built = path.join(folder, `gsoap-${textHash(`${version} ${wsdl} ${await readFile(source, 'utf8')}`)}`);
  if (!existsSync(built)) await compile(built, source, wsdl);
  return startListening(path.join(built, 'server'), [call.role, ...call.hosts]);
}

/** Compiles in a temporary folder and renames it when complete. Cost: some seconds. */
async function compile(built: string, source: string, wsdl: string): Promise<void> {
  const unfinished = removedAtEnd(`${built}.unfinished`);
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  await writeFile(path.join(unfinished, 'served.wsdl'), wsdl);
  await copyFile(source, path.join(unfinished, 'server.c'));
  const options = { cwd: unfinished, timeout: COMPILE_MS_MAX };
  await run('wsdl2h', ['-c', '-o', 'att.h', 'served.wsdl'], options);
  await run('soapcpp2', ['-c', '-S', '-x', '-L', '-I/usr/share/gsoap/import', 'att.h'], options);
  await run(
    'cc',
    ['-O2', '-I.', '-o', 'server', 'server.c', 'soapC.c', 'soapServer.c', '-lgsoap', '-lpthread'],
    options,
  );
  await rename(unfinished, built);
}

async function startNodeSoap({ folder, wsdl, call }: SoapPeerOptions): Promise<ListeningProcess> {
  await mkdir(folder, { recursive: true });
  const file = path.join(folder, `served-${textHash(wsdl)}.wsdl`);
  await writeFile(file, wsdl);
  return startListening(process.execPath, [sourceOf('soapPeer.js'), file, call.role, ...call.hosts]);
}

function sourceOf(name: string): string {
  return fileURLToPath(new URL(`../peers/programs/${name}`, import.meta.url));
}
