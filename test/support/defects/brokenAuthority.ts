// A defect that plant.ts plants: authorising `break` throws an internal error.
import { type Authorise, makeAuthoriser as real } from '../../../server/authority/authorise.ts';
import { SECRET } from '../authorities.ts';

export function makeAuthoriser(...data: Parameters<typeof real>): Authorise {
  const authorise = real(...data);
  return (request, at) => {
    if (request.usrProxyCert === 'break') throw new Error(SECRET);
    return authorise(request, at);
  };
}
