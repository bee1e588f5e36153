import { join } from 'node:path';
import { AGENT_STATE_NOT_REPORTED, exactly, Fault, formatIso, toFault } from '../../model/index.ts';
import type { Clock } from '../../ports/index.ts';
import { type Disk, readText } from '../../state/index.ts';
import { type DirectoryObserver, watchDirectories } from '../directories.node.ts';
import type { SourceHost, WatchedSource } from '../module.ts';
import type { Checkpoint, Persona, PollResult, SetItem, Source } from '../source.ts';

import { createTimers, cut, sanitizeText, toReadOnlyFiles } from '../source-tools.ts';
import { SPOOL, SPOOL_PREFIX, type SpoolSettings } from './settings.ts';

export interface SpoolOptions {
  /** It holds one Maildir per persona, under the name of the persona. */
  readonly folder: string;
  readonly disk: Disk;
  readonly clock: Clock;
  /** How many code points of content an event has. */
  readonly contentChars: number;
}

/** One message of a Maildir. Its file gets another name when a mail program moves or marks it. */
interface SpoolMessage {
  /** The file name up to the flags, which stays. */
  readonly key: string;
  readonly path: string;
  readonly isRead: boolean;
}

const WAKE_AFTER_MS = 20;
/** A file name begins with the time of delivery, in seconds. */
const SECONDS = /^(\d{1,12})\./;

/** Watches the folder of the settings. Null when they name none. */
export function openSpool({ spool: folder }: SpoolSettings, host: SourceHost): WatchedSource | null {
  if (folder === undefined) return null;
  const { disk, clock, contentChars } = host;
  return {
    hives: [
      {
        source: createSpoolSource({ folder, disk, clock, contentChars }),
        address: folder,
        identity: ({ address }) => [SPOOL, address, folder],
        named: toPersona,
        holdMs: null,
        kind: 'disk',
        deliversBacklog: true,
      },
    ],
    [Symbol.asyncDispose]: async () => {},
  };
}

const toPersona = (address: string): Persona => ({ id: `${SPOOL_PREFIX}${address}`, address, label: address });

/** Maildirs as personas, their messages as a set. Nothing below the folder is ever written. */
export function createSpoolSource({ folder, disk, clock, contentChars }: SpoolOptions): Source {
  const files = toReadOnlyFiles(disk.files, SPOOL);
  const gone = new Set<string>();
  let follow: ((addresses: Iterable<string>) => void) | null = null;

  const isMaildir = (address: string): boolean => files.lstat(join(folder, address, 'new'))?.kind === 'directory';

  function listMembers(): readonly string[] {
    return wrap('source', SPOOL, () =>
      files.readdir(folder).filter((name) => !name.startsWith('.') && isMaildir(name)),
    );
  }

  /** `new` first: a message that is moved meanwhile is listed twice, and not missed. */
  function listMessages(address: string): readonly SpoolMessage[] {
    const byKey = new Map<string, SpoolMessage>();
    for (const part of ['new', 'cur']) {
      for (const name of files.readdir(join(folder, address, part))) {
        const [key = '', flags = ''] = name.split(':2,');
        if (key !== '' && !name.startsWith('.'))
          byKey.set(key, { key, path: join(folder, address, part, name), isRead: flags.includes('S') });
      }
    }
    return [...byKey.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** Null when the file has another name by now; the next poll finds it. */
  function toItem(message: SpoolMessage, isKnown: boolean): SetItem | null {
    const { key, path, isRead } = message;
    const text = isKnown || isRead ? '' : readText(files, path);
    if (text === null) return null;
    const end = /\r?\n\r?\n/.exec(text);
    const [head, body] = end === null ? [text, ''] : [text.slice(0, end.index), text.slice(end.index + end[0].length)];
    const from = /^From:[ \t]*(.+)$/im.exec(head)?.[1]?.trim();
    const seconds = SECONDS.exec(key)?.[1];
    return {
      key,
      fingerprint: isRead ? 'read' : 'unread',
      appeared: isRead ? 'quiet' : 'new',
      changed: isRead ? 'read' : null,
      vanished: 'gone',
      from: from === undefined ? null : sanitizeText(from),
      created: seconds === undefined ? null : formatIso(Number(seconds) * 1000),
      content: isKnown ? null : cut(sanitizeText(body.trimEnd()), contentChars),
      extra: {},
    };
  }

  function poll({ id, address }: Persona, from: Checkpoint): PollResult {
    const result = (items: readonly SetItem[], unread: number): PollResult => ({
      ...{ at: clock.now(), unread: exactly(unread), urgent: exactly(0), agentState: AGENT_STATE_NOT_REPORTED },
      evidence: { is: 'set', epoch: folder, items },
    });
    try {
      if (!isMaildir(address)) {
        if (listMembers().includes(address)) return poll({ id, address, label: address }, from);
        gone.add(address);
        return result([], 0);
      }
      gone.delete(address);
      const known = new Set(from.is === 'known' ? from.keys.map(({ key }) => key) : []);
      const messages = listMessages(address);
      const items = messages.flatMap((message) => toItem(message, known.has(message.key)) ?? []);
      return result(items, messages.filter(({ isRead }) => !isRead).length);
    } catch (error) {
      listMembers(); // throws when the folder is the cause, and not this Maildir
      throw wrapError('persona', id, error);
    }
  }

  return {
    id: SPOOL,
    kind: SPOOL,
    async personas() {
      const members = listMembers();
      follow?.(members);
      return members.map(toPersona);
    },
    poll,
    isGone: ({ address }) => gone.has(address),
    hints(wake) {
      const timers = createTimers(clock);
      const directories = watchDirectories({ clock, statOnly: false });
      const followed = new Map<string, readonly DirectoryObserver[]>();
      const wakeSoon = (address: string): void => timers.schedule(WAKE_AFTER_MS, address, () => wake(address));
      follow = (addresses) => {
        for (const address of addresses) {
          if (followed.has(address)) continue;
          const paths = ['new', 'cur'].map((part) => join(folder, address, part));
          followed.set(
            address,
            paths.map((path) => directories.add(path, () => wakeSoon(address), 'deaf')),
          );
          wakeSoon(address); // for what came before the watching began
        }
      };
      const listAgain = (): void => {
        try {
          const members = new Set(listMembers());
          for (const [address, watches] of followed) {
            if (members.has(address)) continue;
            for (const observer of watches) observer[Symbol.dispose]();
            followed.delete(address);
            wakeSoon(address);
          }
          follow?.(members);
        } catch {
          for (const address of followed.keys()) wakeSoon(address); // their polls report what is wrong
        }
      };
      directories.add(folder, () => timers.schedule(WAKE_AFTER_MS, '', listAgain), 'always');
      listAgain();
      return {
        [Symbol.dispose]() {
          follow = null;
          directories[Symbol.dispose]();
          timers[Symbol.dispose]();
        },
      };
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

function wrap<T>(is: 'persona' | 'source', key: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw wrapError(is, key, error);
  }
}

function wrapError(is: 'persona' | 'source', key: string, error: unknown): Fault {
  const scope = { is, key } as const;
  return new Fault('unreadable', toFault(error, scope).message, scope, { cause: error });
}
