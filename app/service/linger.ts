import type { SupervisedNeeds } from './supervised-unit.ts';
import { runOrThrow, runToEnd } from './unit-file.ts';

/**
 * Units of a user stop with the last logout unless the user lingers (loginctl(1); Kijito contract, trap 69). Null: that can
 * not be told, or is no question here.
 */
export async function isLingering(needs: SupervisedNeeds): Promise<boolean | null> {
  if (!hasLinger(needs)) return null;
  // Only stderr of a program is kept here.
  const ended = await runToEnd(needs, ['sh', '-c', `exec loginctl show-user ${needs.uid} --property=Linger >&2`]);
  if (ended.is !== 'exited') return null;
  if (/^Linger=yes$/m.test(ended.stderr)) return true;
  return /^Linger=no$|not logged in or lingering/m.test(ended.stderr) ? false : null;
}

/** As one does it by hand: for oneself, which no password is asked for (persona daemon, contract 7). */
const ENABLE_LINGER: readonly string[] = ['loginctl', 'enable-linger'];

/**
 * Has the units of this user start with the machine and go on after a logout. Nothing where that is no question.
 * @throws Fault `exec-failed`, naming the command
 */
export async function enableLinger(needs: SupervisedNeeds): Promise<void> {
  if (!hasLinger(needs)) return;
  try {
    await runOrThrow(needs, ENABLE_LINGER);
  } catch (error) {
    if ((await isLingering(needs)) !== true) throw error; // refused, and not needed: somebody else has switched it on
  }
}

const hasLinger = ({ os, uid }: SupervisedNeeds): boolean => os !== 'darwin' && os !== 'win32' && uid !== null;
