import type { TestContext } from 'node:test';

/**
 * Skips the running test where something it needs is not there, with a line that says what brings it. Where nothing
 * may be missing (CI) it fails instead.
 * @param missing null when all is there, else for example `Xvfb is missing: apt-get install xvfb`
 * @returns true when the test must return at once
 * @throws in CI, when something is missing
 */
export function needs(t: TestContext, missing: string | null): boolean {
  if (missing === null) return false;
  if (process.env.HIVEBAR_REQUIRE_ALL === '1') throw new Error(`may not be skipped here: ${missing}`);
  t.skip(missing);
  return true;
}
