// A defect: asking which authority is current meets a bug, before the body of any request is here.
// Planted into a real server by plant.ts.
import { type AuthorityService, openAuthority as open } from '../../../server/authority/service.ts';
import { SECRET } from '../memoryAuthority.ts';

export * from '../../../server/authority/service.ts';

/** The authority of a serving thread, which nobody gets. */
export function openAuthority(...link: Parameters<typeof open>): AuthorityService {
  return {
    ...open(...link),
    current: () => {
      throw new Error(SECRET);
    },
  };
}
