import { expect, test } from 'vitest';
import { s3Target } from '../../../../data/distribution/s3Target.ts';
import { runCommand } from '../../../support/commandProcess.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { published, releaseOf } from '../../../support/distributions.ts';
import { S3_KEYS, s3Server } from '../../../support/s3Servers.ts';
import { wholeIn } from '../../../support/targetSuite.ts';

const directory = temporaryDirectory();

test('leaves the old generation or the new one if a publisher is killed at a request', async () => {
  const [old, next] = [await releaseOf(directory, 1), await releaseOf(directory, 2)];
  const server = await s3Server();
  const target = s3Target(new URL('s3://bucket/folder'), 10_000, server.access);
  const environment = { AWS_ACCESS_KEY_ID: S3_KEYS.id, AWS_SECRET_ACCESS_KEY: S3_KEYS.secret };
  const words = ['publish', next.file, '--to', 's3://bucket/folder', '--s3-endpoint', server.origin];
  try {
    for (let last = 1, isKilled = true; isKilled; last++) {
      server.objects.clear();
      await published(target, old);
      const first = server.asked.length;
      const publish = runCommand(words, { environment });
      server.misbehave = async (_request, response) => {
        if (server.asked.length - first !== last) return false;
        publish.signal('SIGKILL');
        await publish.ended;
        response.destroy();
        return true;
      };
      isKilled = (await publish.ended).signal !== null;
      server.misbehave = () => false;
      const left = (await wholeIn(target, directory))!;
      expect([old.generation, next.generation]).toContain(left.generation);
      await published(target, next);
      expect((await wholeIn(target, directory))!).toMatchObject({ generation: next.generation, sequence: 2 });
      if (!isKilled) expect(last).toBeGreaterThan(6);
    }
  } finally {
    await target.close();
    server.close();
  }
});
