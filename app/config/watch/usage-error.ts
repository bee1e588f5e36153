/** A bad command line. The message is written for a person. */
export class UsageError extends Error {}

/** @throws UsageError for the empty text */
export function parseTextFlag(flag: string, value: string | undefined): string | null {
  if (value === '') throw new UsageError(`${flag}: must not be empty`);
  return value ?? null;
}
