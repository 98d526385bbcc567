// Clients with bad manners in the numbers that were promised: the suite of rudeClients.test.ts with more of them.
import { clientCounts } from '../support/rudeClients.ts';

Object.assign(clientCounts, { slowReaders: 60, aborts: 10_000, unread: 100 });

await import('./rudeClients.test.ts');
