import { execFile } from 'node:child_process';
import { join } from 'node:path';

const ANSWER_MS = 5000;
const MOST_OUTPUT = 64 * 1024;

/**
 * Asks agmsg where the messages of a team are. Of its scripts only this question runs nothing that creates, changes or marks
 * (agmsg contract 3). The names are arguments of the script, and no shell reads them.
 *
 * @returns what it printed; null when there is no such script, or it failed
 */
export function askForStore(
  root: string,
  team: string,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<string | null> {
  return new Promise((resolve) => {
    const options = {
      cwd: root,
      env: { ...env },
      timeout: ANSWER_MS,
      maxBuffer: MOST_OUTPUT,
      killSignal: 'SIGKILL',
      signal,
    } as const;
    try {
      execFile(join(root, 'scripts', 'api.sh'), ['get', 'teams', team, 'store'], options, (error, stdout) =>
        resolve(error === null ? stdout : null),
      );
    } catch {
      resolve(null); // an argument that no program can get
    }
  });
}
