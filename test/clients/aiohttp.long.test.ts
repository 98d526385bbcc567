// The library aiohttp, from its Debian package.
import { describePython } from './pythonHttp.ts';

describePython(
  'aiohttp',
  'python3-aiohttp',
  `
import aiohttp, asyncio, datetime, json, sys
url = sys.argv[1]
async def main():
    async with aiohttp.ClientSession() as session:
        async def ask(params={}, headers={}):
            async with session.get(url, params=params, headers=headers) as answer:
                return answer.status, answer.headers, await answer.read()
        page = await ask()
        now = datetime.datetime.utcnow().isoformat() + 'z'
        part = await ask({'format': 'csv'}, {'Range': 'bytes=1000-1999'})
        print(json.dumps({
            'count': json.loads(page[2])['count'],
            'error': json.loads((await ask({'ob_id': 'x'}))[2])['ob_id'],
            'unchanged': (await ask(headers={'If-None-Match': page[1]['ETag']}))[0],
            'since': (await ask({'dataPublishedTime__lte': now}))[0],
            'part': [part[0], part[2].decode('latin1')],
        }))
asyncio.run(main())
`,
);
