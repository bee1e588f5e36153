import { join } from 'node:path';
import type { Io } from '../../../core/command/index.ts';
import {
  type DaemonConfig,
  type DaemonPlaces,
  LOCAL,
  readDaemonToken,
  writeDaemonToken,
} from '../../../core/link/index.ts';
import { Fault } from '../../../core/model/index.ts';
import {
  clearStamps,
  type Disk,
  findOwnDirs,
  getErrno,
  readPrivate,
  toIoFault,
  toPendingDir,
  writeAtomically,
} from '../../../core/state/index.ts';
import { checkTokenFile } from '../service-token.ts';
import type { DaemonContext } from './daemon-context.ts';
import type { InstallArgs } from './install-args.ts';

const MOST_BYTES = 64 * 1024;

/**
 * Writes the tokens of a daemon and of its surface. For the local hive they are created once; for another upstream they are
 * copied from files.
 * @throws Fault `unreadable` for a token file that others may read, `daemon-config` for a file without a token
 */
export function writeTokens(
  { upstream }: DaemonConfig,
  { observeFile, actFile }: Pick<InstallArgs, 'observeFile' | 'actFile'>,
  before: DaemonConfig | null,
  { observeToken, actToken }: DaemonPlaces,
  context: DaemonContext,
): void {
  const { disk, random } = context;
  for (const [path, from] of [
    [observeToken, observeFile],
    [actToken, actFile],
  ] as const) {
    if (from !== null) writeAtomically(disk, random, path, `${readToken(from, context)}\n`);
    else if (before?.upstream !== upstream) remove(disk, path); // a token is useless for another upstream
    if (from === null && upstream === LOCAL && readDaemonToken(disk, path) === null)
      writeDaemonToken(disk, random, path);
  }
}

function remove({ files }: Disk, path: string): void {
  try {
    files.unlink(path);
  } catch (error) {
    if (getErrno(error) !== 'ENOENT') throw toIoFault(error, path, 'unwritable');
  }
}

function readToken(path: string, { disk }: DaemonContext): string {
  checkTokenFile(disk, path);
  const bytes = readPrivate(disk, path, MOST_BYTES);
  const token = bytes === null ? '' : Buffer.from(bytes).toString('utf8').trim();
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new Fault('unreadable', `${path} does not hold exactly one word, the token`, { is: 'machine', key: 'token' });
}

/** Clears the stamps that let hooks skip questions: what the local hive said does not apply to another upstream. */
export function forgetQuiet({ address, upstream }: DaemonConfig, { env }: Io): void {
  if (upstream === LOCAL) return;
  clearStamps(toPendingDir(join(findOwnDirs({ ...env }).state, 'hivebar.sqlite')), [address]);
}
