import { conditionHeaders, readEntityTag, readLastChange } from '../validator.ts';
import { targetError, type ObjectAnswer, objectHost, readPart, rangeHeader } from './httpExchange.ts';
import { POINTER_BYTES_MAX, POINTER_NAME, type Target, type TargetOptions } from './target.ts';

/**
 * Many servers make tags from the length and the time in seconds, so two pointers of the same second may have the same
 * tag (RFC 9110, 8.8.2.2).
 */
const SETTLED_MS = 2000;

/**
 * The folder of an `http:` or `https:` URL as a read-only target. Polls the pointer by conditional GET and fetches
 * objects by Range. fileTarget.ts writes the folder that such a server serves.
 */
export function httpTarget(url: URL, { timeoutMs }: TargetOptions): Target {
  const host = objectHost(url.origin, timeoutMs);
  const folder = url.pathname.replace(/\/*$/, '/');
  const refusal = (path: string, status: number): Error => {
    const reason = status >= 300 && status < 400 ? ', and redirects are not followed' : '';
    return targetError(`${url.origin}${path}`, `answered ${status}${reason}`);
  };
  return {
    name: url.href,
    async readPointer(known, signal) {
      const path = folder + POINTER_NAME;
      const bounded = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      const answer = await host.send({ method: 'GET', path, headers: conditionHeaders(known), signal: bounded });
      if (answer.status === 200)
        return { text: await answer.text(POINTER_BYTES_MAX), validator: readValidator(answer) };
      await answer.discard();
      if (answer.status === 304 && known !== undefined) return 'unchanged';
      if (answer.status === 404) return undefined;
      throw refusal(path, answer.status);
    },
    async read(name, offset, signal) {
      const path = folder + name;
      const answer = await host.send({ method: 'GET', path, headers: rangeHeader(offset), signal });
      const part = readPart(answer, offset);
      if (part) return part;
      await answer.discard();
      if (answer.status === 404) return undefined;
      throw refusal(path, answer.status);
    },
    close: () => host.close(),
  };
}

function readValidator({ header }: ObjectAnswer): string | undefined {
  const settled = readLastChange(header, SETTLED_MS);
  const isFresh = header('last-modified') !== '' && settled === undefined;
  return isFresh ? undefined : (readEntityTag(header) ?? settled);
}
