// json-server, a peer, over the same records as parsed objects in memory, which is how it works.
// Arguments: the directory of the data set, a file that it has no use for, the base URL of the links.
import jsonServer from 'json-server';
import { observationTexts } from './rows.js';

const [directory, , baseUrl] = process.argv.slice(2);
const observations = [];
for await (const text of observationTexts(directory, baseUrl)) observations.push(JSON.parse(text));
observations.sort((a, b) => a.ob_id - b.ob_id);

const router = jsonServer.router({ observations });
router.db._.id = 'ob_id';
const server = jsonServer.create();
// Without it every answer is indented, which nobody else does.
server.set('json spaces', 0);
server.use(router);
const listener = server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on http://127.0.0.1:${listener.address().port} \n`);
});
