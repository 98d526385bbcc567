// The part of `npm test` that finishes within 20 s, `npm run test:quick`: style, the engine without tests that take
// seconds, and one suite over a socket.
import full, { LONG } from './vitest.config.ts';

const QUICK = ['test/tidy.test.ts', 'test/unit/engine/**/*.test.ts', 'test/conformance/filters.test.ts'];
const SECONDS = 'test/unit/engine/page/bodies.test.ts';

const { projects: _all, ...test } = full.test!;

export default { ...full, test: { ...test, include: QUICK, exclude: [LONG, SECONDS], isolate: false } };
