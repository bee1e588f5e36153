import { join } from 'node:path';
import { Fault } from '../../core/model/index.ts';
import { type Disk, readText } from '../../core/state/index.ts';
import type { Session } from '../open/index.ts';
import { formatWakeWords } from './nudge-claims.ts';
import { listManagedSettings } from './own-installer.node.ts';
import { readPermissionMode } from './session-reports.node.ts';
import type { Wake } from './wake-ways.ts';

export interface SocketNeeds {
  readonly disk: Disk;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly os: NodeJS.Platform;
  readonly stop: AbortSignal;
  /** The directory in which hooks report. */
  readonly run: string;
}

/**
 * Null: it is no idle session of Claude Code with a socket that is known, or it would hold or refuse what comes there.
 * @param name the persona's name in the local hive
 */
export async function createSocketWake(session: Session, name: string, needs: SocketNeeds): Promise<Wake | null> {
  const { id, runner, harness, cwd } = session;
  const { disk, os, stop } = needs;
  // On Windows the first line must be the token of the session, which is a secret of it.
  if (os === 'win32' || id === null || harness?.name !== 'claude') return null;
  if (!isInboundOpen({ home: harness.home, cwd, id }, needs)) return null;
  const { createSessionBell } = await import('../../core/sources/claude/index.ts');
  const bell = createSessionBell({ id, pid: runner.pid, home: harness.home }, disk);
  if (bell === null) return null;
  return async ({ pending, waiting }) => {
    try {
      // Claude Code drops words that are the same as those of a moment before, so they name the newest item.
      const words = `${formatWakeWords(pending, name, id)} (newest item: ${waiting})`;
      const isRung = await bell.ring(words, stop);
      return isRung ? { is: 'nudged' } : { is: 'wait', why: 'the session of Claude Code went on' };
    } catch (error) {
      if (error instanceof Fault && NOTHING_SENT.has(error.code)) return { is: 'wait', why: error.message };
      throw error;
    }
  };
}

/** Faults before the first byte. */
const NOTHING_SENT: ReadonlySet<string> = new Set(['refused', 'usage']);
/** A session in this mode holds what comes from a sender that asks its person, unless its settings accept it. */
const NEVER_ASKS = 'bypassPermissions';

interface SettingsOwner {
  readonly home: string;
  readonly cwd: string;
  readonly id: string;
}

/**
 * Claude Code itself decides by its key `crossSessionInbound`. Where its answer is certain to be no, or a dialog for its person, nothing
 * is sent. Settings of a project can only be stricter than those of the user.
 */
function isInboundOpen({ home, cwd, id }: SettingsOwner, { disk, env, os, run }: SocketNeeds): boolean {
  const owners = [...(listManagedSettings(os, env).claude ?? []), join(home, 'settings.json')];
  const projects = ['settings.json', 'settings.local.json'].map((file) => join(cwd, '.claude', file));
  const [wide, narrow] = [owners, projects].map((paths) => paths.map((path) => readInbound(disk, path)));
  if ([...(wide ?? []), ...(narrow ?? [])].some((value) => value !== undefined && value !== 'accept')) return false;
  return wide?.includes('accept') === true || readPermissionMode(run, id) !== NEVER_ASKS;
}

/** Undefined: the file does not say. Anything but `accept` counts as a no, also a file that cannot be read. */
function readInbound({ files }: Disk, path: string): unknown {
  try {
    const text = readText(files, path);
    if (text === null) return undefined;
    return (JSON.parse(text) as { readonly crossSessionInbound?: unknown } | null)?.crossSessionInbound;
  } catch {
    return 'unreadable'; // Claude Code may read in it what we cannot
  }
}
