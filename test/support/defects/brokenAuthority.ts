// A defect: authorising `break` meets a bug. Planted into a real server by plant.ts.
import { type Authorise, authoriserOf as real } from '../../../server/authority/authorise.ts';
import { SECRET } from '../authorities.ts';

/** Decides as the real one does, but for that. */
export function authoriserOf(...data: Parameters<typeof real>): Authorise {
  const authorise = real(...data);
  return (request, at) => {
    if (request.usrProxyCert === 'break') throw new Error(SECRET);
    return authorise(request, at);
  };
}
