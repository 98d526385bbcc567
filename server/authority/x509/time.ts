// Times of certificates and CRLs (RFC 5280, section 4.1.2.5): read from DER into seconds since 1970, and written for
// people. Asks no clock.
import { DerError, type DerReader, TAG } from './der.ts';

const UTC_TIME = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/;
const GENERALIZED_TIME = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/;

/**
 * UTCTime or GeneralizedTime as seconds since 1970; both to the second and in UTC. Years of UTCTime are those from 1950
 * to 2049. A GeneralizedTime before 2050 should have been a UTCTime (RFC 5280, section 4.1.2.5) and is read all the
 * same.
 */
export function readTime(reader: DerReader): number {
  const element = reader.any();
  const text = Buffer.from(reader.content(element)).toString('latin1');
  if (element.tag === TAG.generalizedTime) return secondsOf(GENERALIZED_TIME.exec(text), 0);
  if (element.tag !== TAG.utcTime) throw new DerError('no time');
  const parts = UTC_TIME.exec(text);
  return secondsOf(parts, Number(parts?.[1]) >= 50 ? 1900 : 2000);
}

function secondsOf(parts: RegExpExecArray | null, century: number): number {
  if (parts === null) throw new DerError('no time');
  const [year, month, day, hour, minute, second] = parts.slice(1).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const date = new Date(0);
  date.setUTCFullYear(century + year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  const isReal =
    date.getUTCMonth() === month - 1 && date.getUTCDate() === day && hour < 24 && minute < 60 && second < 60;
  if (!isReal) throw new DerError('a time that does not exist');
  return date.getTime() / 1000;
}

/** `2030-12-31 08:30:00 UTC`. */
export function timeText(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, -5).replace('T', ' ')} UTC`;
}
