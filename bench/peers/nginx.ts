// nginx as a control: a file of the same bytes, served by one process with sendfile and open files cached. Omitted if
// it is not installed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { stopped, type ListeningProcess } from '../processes/processes.ts';
import { steadyPort } from '../proxy/shippedProxies.ts';

const START_TRIES = 100;
const TRY_MS = 50;

/** Starts nginx over the files of a folder, to which it also writes. Returns a reason if nginx is not available. */
export async function startNginx(folder: string): Promise<ListeningProcess | { readonly missing: string }> {
  const port = await steadyPort();
  const configuration = path.join(folder, 'nginx.conf');
  await writeFile(configuration, configurationText(folder, port));
  const child = spawn('nginx', ['-p', folder, '-c', configuration, '-e', 'error.txt'], { stdio: 'ignore' });
  const failure = await once(child, 'spawn').then(() => undefined, String);
  if (failure !== undefined) return { missing: failure };
  for (let tries = 0; tries < START_TRIES; tries++) {
    if (await isOpen(port)) return { pid: child.pid!, port, stop: () => stopped(child) };
    await setTimeout(TRY_MS);
  }
  await stopped(child);
  return { missing: 'it does not listen' };
}

function configurationText(folder: string, port: number): string {
  return `daemon off; master_process off; pid nginx.pid;
events { worker_connections 256; }
http {
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000000; open_file_cache max=10;
  client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5;
  types { application/json json; }
  server { listen 127.0.0.1:${port}; root ${folder}; }
}
`;
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port });
  const isConnected = await Promise.race([
    once(socket, 'connect').then(() => true),
    once(socket, 'close').then(() => false),
  ]).catch(() => false);
  socket.destroy();
  return isConnected;
}
