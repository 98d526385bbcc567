// Loaded into a process by --import: its time of day is ahead by the milliseconds in the file MOVED_CLOCK, or behind by
// as many, from the moment they stand there. The steady clock and timers go on, as where the clock of a machine is set.
import { readFileSync } from 'node:fs';

const RealDate = Date;
const { now } = Date;
const file = process.env['MOVED_CLOCK']!;
const moved = (): number => now() + Number(readFileSync(file, 'utf8'));
RealDate.now = moved;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, values, made) => Reflect.construct(target, values.length === 0 ? [moved()] : values, made),
});
