// The library httpx, from its Debian package.
import { describePython } from './pythonHttp.ts';

describePython(
  'httpx',
  'python3-httpx',
  `
import datetime, httpx, json, sys
url = sys.argv[1]
with httpx.Client() as client:
    page = client.get(url)
    now = datetime.datetime.now(datetime.timezone.utc).isoformat()
    part = client.get(url, params={'format': 'csv'}, headers={'Range': 'bytes=1000-1999'})
    print(json.dumps({
        'count': page.json()['count'],
        'error': client.get(url, params={'ob_id': 'x'}).json()['ob_id'],
        'unchanged': client.get(url, headers={'If-None-Match': page.headers['ETag']}).status_code,
        'since': client.get(url, params={'dataPublishedTime__lte': now}).status_code,
        'part': [part.status_code, part.content.decode('latin1')],
    }))
`,
);
