// Loaded by --import. Moves the time of day by the milliseconds in the file MOVED_CLOCK, as soon as they are written.
// The steady clock and timers stay unchanged, as on a machine whose clock is set.
import { readFileSync } from 'node:fs';

const RealDate = Date;
const { now } = Date;
const file = process.env['MOVED_CLOCK']!;
const moved = (): number => now() + Number(readFileSync(file, 'utf8'));
RealDate.now = moved;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, values, made) => Reflect.construct(target, values.length === 0 ? [moved()] : values, made),
});
