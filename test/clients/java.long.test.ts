// Java's HttpClient, with the time that Instant.now() prints.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runServer, type Server } from '../support/commandProcess.ts';
import { hasProgram } from '../support/debian.ts';
import { sampleSnapshot } from '../support/sampleSnapshot.ts';

const run = promisify(execFile);
const SOURCE = `
import java.net.URI;
import java.net.http.*;
import java.time.Instant;

public class Client {
  public static void main(String[] words) throws Exception {
    var client = HttpClient.newHttpClient();
    var text = HttpResponse.BodyHandlers.ofString();
    var page = client.send(HttpRequest.newBuilder(URI.create(words[0])).build(), text);
    var now = Instant.parse("2026-01-02T03:04:05.123456789Z");
    var since = client.send(HttpRequest.newBuilder(URI.create(words[0] + "?dataPublishedTime__lte=" + now)).build(), text);
    var part = client.send(
        HttpRequest.newBuilder(URI.create(words[0] + "?format=csv")).header("Range", "bytes=0-9").build(), text);
    System.out.print(page.statusCode() + " " + since.statusCode() + " " + part.statusCode() + " " + part.body().length());
  }
}
`;

describe.skipIf(!hasProgram('javac'))('Java', () => {
  let server: Server;
  const directory = mkdtempSync(join(tmpdir(), 'clients-java-'));
  beforeAll(async () => (server = await runServer(['--data', await sampleSnapshot(), '--threads', '1'])));
  afterAll(async () => {
    rmSync(directory, { recursive: true });
    await server.stop();
  });

  test('HttpClient gets a page, a filter by an Instant, and a range', async () => {
    const file = join(directory, 'Client.java');
    writeFileSync(file, SOURCE);
    const { stdout } = await run('java', [file, `${server.url}/api/v3/observations/`]);
    expect(stdout).toBe('200 200 206 10');
  });
});
