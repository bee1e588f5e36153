const FORM = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{3})\d*)?(?:\+00:00|Z)$/;

/**
 * A UTC time of the wire as milliseconds since 1970.
 * @throws RangeError when it is none
 */
export function millisOf(time: string): number {
  const [year, month, day, hour, minute, second, milli] = (FORM.exec(time) ?? [])
    .slice(1)
    .map((part) => Number(part ?? 0));
  const millis = Date.UTC(year ?? Number.NaN, (month ?? 0) - 1, day, hour, minute, second, milli);
  if (Number.isNaN(millis)) throw new RangeError(`no UTC time: ${time}`);
  return millis;
}
