// A defect: authorising `break` meets a bug, in the serving thread and not in the one that signs.
// Planted into a real server by plant.ts.
import type { Authority } from '../../../server/authority/authority.ts';
import { type AuthorityService, openAuthority as open } from '../../../server/authority/service.ts';
import { SECRET } from '../memoryAuthority.ts';

export * from '../../../server/authority/service.ts';

const broken = new WeakMap<Authority, Authority>();

/** The authority of a serving thread, but for that. */
export function openAuthority(...link: Parameters<typeof open>): AuthorityService {
  const service = open(...link);
  return { ...service, current: () => brokenOf(service.current()) };
}

function brokenOf(authority: Authority): Authority {
  const known = broken.get(authority);
  if (known) return known;
  const authorise: Authority['authorise'] = async (request) => {
    if (request.usrProxyCert === 'break') throw new Error(SECRET);
    return authority.authorise(request);
  };
  const made = { ...authority, authorise };
  broken.set(authority, made);
  return made;
}
