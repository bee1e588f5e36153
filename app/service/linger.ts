import type { SupervisedNeeds } from './supervised-unit.ts';
import { runOrThrow, runToEnd } from './unit-file.ts';

/**
 * Returns whether the user lingers. Otherwise a user's units stop with the last logout (loginctl(1); Kijito contract, trap 69).
 * Null when that is not known, or does not apply here.
 */
export async function isLingering(needs: SupervisedNeeds): Promise<boolean | null> {
  if (!hasLinger(needs)) return null;
  // Only stderr of a program is captured.
  const ended = await runToEnd(needs, ['sh', '-c', `exec loginctl show-user ${needs.uid} --property=Linger >&2`]);
  if (ended.is !== 'exited') return null;
  if (/^Linger=yes$/m.test(ended.stderr)) return true;
  return /^Linger=no$|not logged in or lingering/m.test(ended.stderr) ? false : null;
}

/** The command without a user name is for the user's own account, which needs no password (persona daemon, contract 7). */
const ENABLE_LINGER: readonly string[] = ['loginctl', 'enable-linger'];

/**
 * Makes the units of this user start with the machine and continue after a logout. Does nothing where that does not apply.
 * @throws Fault `exec-failed`, naming the command
 */
export async function enableLinger(needs: SupervisedNeeds): Promise<void> {
  if (!hasLinger(needs)) return;
  try {
    await runOrThrow(needs, ENABLE_LINGER);
  } catch (error) {
    if ((await isLingering(needs)) !== true) throw error; // refused, but not needed if somebody else has switched it on
  }
}

const hasLinger = ({ os, uid }: SupervisedNeeds): boolean => os !== 'darwin' && os !== 'win32' && uid !== null;
