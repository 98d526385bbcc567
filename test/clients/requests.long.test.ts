// The library requests, from its Debian package.
import { describePython } from './pythonHttp.ts';

describePython(
  'requests',
  'python3-requests',
  `
import datetime, json, requests, sys
url = sys.argv[1]
with requests.Session() as session:
    page = session.get(url)
    now = datetime.datetime.now(datetime.timezone.utc)
    part = session.get(url, params={'format': 'csv'}, headers={'Range': 'bytes=1000-1999'})
    print(json.dumps({
        'count': page.json()['count'],
        'error': session.get(url, params={'ob_id': 'x'}).json()['ob_id'],
        'unchanged': session.get(url, headers={'If-None-Match': page.headers['ETag']}).status_code,
        'since': session.get(url, params={'dataPublishedTime__lte': now.strftime('%Y-%m-%dT%H:%M:%S.%f%z')}).status_code,
        'part': [part.status_code, part.content.decode('latin1')],
    }))
`,
);
