// Times as people read them: the day, the time to the second and its zone, in one line.
// Pure; knows no clock and no zone but the one that is written.

/** A date with a time as `2020-01-02 10:00:00Z`, its fraction left out; undefined for all other texts. */
export function instantText(text: string): string | undefined {
  const [, day, time, zone = ''] =
    /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d{1,32})?(Z|[+-]\d\d:?\d\d)?$/.exec(text) ?? [];
  return day === undefined ? undefined : `${day} ${time}${zone}`;
}
