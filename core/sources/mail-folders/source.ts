import { join } from 'node:path';
import {
  AGENT_STATE_NOT_REPORTED,
  type Count,
  exactly,
  Fault,
  type PersonaId,
  toFault,
  UNKNOWN,
} from '../../model/index.ts';
import type { Clock, Log, Stat } from '../../ports/index.ts';
import { every } from '../../services/index.ts';
import { type Disk, getErrno } from '../../state/index.ts';
import { type DirectoryObserver, watchDirectories } from '../directories.node.ts';
import type { Checkpoint, PendingCounts, Persona, PollResult, SetEvidence, Source, UnreadCounts } from '../source.ts';
import { createDefectLog, createTimers, toOneLine, toReadOnlyFiles } from '../source-tools.ts';
import type { MailLayout } from './layout.ts';
import { createMailboxReader } from './mailbox-reader.ts';

export interface MailFolderOptions {
  /** The id of its hive. */
  readonly id: string;
  /** The value of the event key `source`. */
  readonly kind: string;
  /** The folder that holds the mailboxes, or the folder of the layout that does. */
  readonly root: string;
  readonly layout: MailLayout;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly log: Log;
  /** How many code points of content an event has; null leaves content out. */
  readonly contentChars: number | null;
  toPersonaId(address: string): PersonaId;
  /** Watches nothing and checks every 10 s, as on a disk that sends no change notices. */
  readonly statOnly?: boolean;
}

/** Folders of mail as a source. */
export interface MailFolderSource extends Source {
  /** A mailbox as a persona, also one that does not exist, or not any more. */
  named(address: string): Persona;
  /** What is wrong with single files, one line each. */
  readonly defects: readonly string[];
}

const WAKE_AFTER_MS = 5;
/** How often mailboxes are checked beside the notices of changes (AMQ contract 4). */
const SWEEP_EVERY_MS = 10_000;
/** The name of a timer that no mailbox can have. */
const LISTING = '/listing';
const ADDRESS_CHARS = 200;
const LABEL_CHARS = 80;
/** What a name must not hold, because it would not be the same in a line or on a screen. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\uFFFD]/u;

/** Mailboxes that are folders as personas, their messages as sets. Nothing below the root is ever written. */
export function createMailFolderSource(options: MailFolderOptions): MailFolderSource {
  const { id, kind, root, layout, clock, log } = options;
  const files = toReadOnlyFiles(options.disk.files, id);
  const reader = createMailboxReader({ files, clock, root, layout, contentChars: options.contentChars });
  const defects = createDefectLog(log, id);
  const folder = join(root, layout.mailboxes);
  /** Mailboxes that the last poll did not find. */
  const gone = new Set<string>();
  let epoch: string | null = null;
  /** The counts of each mailbox at its last poll; those of an unchanged mailbox are the same object. */
  const counts = new Map<string, UnreadCounts>();
  /** The last pending counts, when all were known. */
  let pending: ReadonlyMap<string, UnreadCounts> | null = null;
  const timers = createTimers(clock);
  let wake: ((address: string) => void) | null = null;
  let follow: ((addresses: readonly string[]) => void) | null = null;
  /** Watches the folders of a mailbox that are there now. */
  let renew: ((address: string) => void) | null = null;
  /** When a mailbox has to be polled again, on the monotonic clock. */
  const due = new Map<string, number>();

  const named = (address: string): Persona => ({
    id: options.toPersonaId(address),
    address,
    label: toOneLine(layout.formatLabel(address), LABEL_CHARS),
  });

  /** A mailbox that cannot be entered counts as there, so that its own poll reports what is wrong. */
  function isThere(address: string): boolean {
    const path = join(folder, address);
    try {
      return files.lstat(layout.needsArriving ? join(path, layout.arriving) : path)?.kind === 'directory';
    } catch (error) {
      return getErrno(error) !== 'ENOTDIR';
    }
  }

  /** @throws Fault `unreadable` for the whole source */
  function listMailboxes(): readonly string[] {
    return wrapErrors('source', id, () => {
      const bad: string[] = [];
      const found = files.readdir(folder).filter((name) => {
        if (name.startsWith('.') || !layout.isMailbox(name) || !isThere(name)) return false;
        const isUsable = name.length <= ADDRESS_CHARS && !UNPRINTABLE.test(name) && name !== '__proto__';
        if (!isUsable) bad.push(toOneLine(name, LABEL_CHARS));
        return isUsable;
      });
      defects.report(
        'mailboxes',
        bad.map((filename) => ({ filename, message: 'has a name that no persona can have' })),
      );
      const all = [...found, ...layout.always.filter((address) => !found.includes(address))];
      return all.sort();
    });
  }

  /** Names the set of messages. A root that was made anew is another set, where the layout says so. */
  function readEpoch(): string {
    if (!layout.isReplaced) return root;
    const stat = wrapErrors('source', id, () => files.lstat(root));
    if (stat === null) throw new Fault('unreadable', `${root} does not exist`, { is: 'source', key: id });
    const now = toEpoch(stat);
    if (epoch !== null && epoch !== now) reader.forgetAll();
    epoch = now;
    return now;
  }

  async function poll(persona: Persona, from: Checkpoint, signal: AbortSignal): Promise<PollResult> {
    const { address } = persona;
    const set = { is: 'set', epoch: readEpoch() } as const;
    due.delete(address);
    const before = counts.get(address);
    counts.delete(address); // until it is known that the poll succeeds
    const reading = await readMailbox(persona, from, signal);
    if (reading === null) {
      defects.report(`messages of ${address}`, []);
      if (layout.always.includes(address) || listMailboxes().includes(address)) gone.delete(address);
      else gone.add(address);
      return { at: clock.now(), ...NOTHING, evidence: { ...set, items: [] } };
    }
    gone.delete(address);
    defects.report(`messages of ${address}`, reading.defects);
    if (reading.againIn !== null) pollAgain(address, reading.againIn);
    const evidence: SetEvidence = { ...set, items: reading.items };
    const { unread, urgent } = reading;
    const now = isSameCounts(before, unread, urgent) ? before : { unread: exactly(unread), urgent: exactly(urgent) };
    counts.set(address, now);
    return { at: clock.now(), ...now, agentState: reading.agentState, evidence };
  }

  async function readMailbox({ id: personaId, address }: Persona, from: Checkpoint, signal: AbortSignal) {
    try {
      return await reader.read(address, from, signal);
    } catch (error) {
      if (error instanceof Fault || signal.aborted) throw error;
      listMailboxes(); // throws when the root is the cause, and not this mailbox
      throw toReadFault('persona', personaId, error);
    }
  }

  /**
   * Counts without polls: a mailbox whose folders are those of its last poll has the counts of that poll. Any other has unknown ones,
   * so that it is polled.
   */
  function readPendingCounts(): PendingCounts {
    readEpoch();
    const byAddress = new Map<string, UnreadCounts>();
    let isKnown = true;
    for (const address of listMailboxes()) {
      const known = reader.hasChanged(address) ? undefined : counts.get(address);
      byAddress.set(address, known ?? UNKNOWN_COUNTS);
      isKnown &&= known !== undefined;
    }
    const before = pending;
    const isSame =
      before?.size === byAddress.size && [...byAddress].every(([address, now]) => before.get(address) === now);
    if (before === null || !isSame) pending = isKnown ? byAddress : null;
    return { at: clock.now(), byAddress: isSame ? before : byAddress, cursor: null };
  }

  function pollAgain(address: string, ms: number): void {
    due.set(address, clock.monotonic() + ms);
    wakeAfter(address, ms);
  }

  function wakeAfter(address: string, ms: number): void {
    if (wake === null) return;
    timers.schedule(ms, address, () => {
      renew?.(address);
      wake?.(address);
    });
  }

  function startHints(listener: (address: string) => void): Disposable {
    const stack = new DisposableStack();
    const directories = stack.use(watchDirectories({ clock, statOnly: options.statOnly === true }));
    const followed = new Map<string, readonly DirectoryObserver[]>();
    stack.defer(() => {
      wake = null;
      follow = null;
      renew = null;
      timers[Symbol.dispose]();
    });
    wake = listener;

    /** The agent file shares its folder with much that does not concern the mail. */
    const isNotice = (address: string, path: string, name: string | null): boolean =>
      name === null || path !== join(folder, address) || layout.arriving === '' || isOwnName(name);
    const isOwnName = (name: string): boolean => name === layout.agent?.name || layout.arriving.startsWith(name);

    renew = (address) => {
      for (const observer of followed.get(address) ?? []) observer.renew();
    };
    follow = (addresses) => {
      const now = new Set(addresses);
      for (const [address, observers] of followed) {
        if (now.has(address)) continue;
        for (const observer of observers) observer[Symbol.dispose]();
        followed.delete(address);
        reader.forget(address);
        wakeAfter(address, WAKE_AFTER_MS);
      }
      for (const address of now) {
        if (followed.has(address)) continue;
        const hear = (name: string | null, _event: string, path: string): void => {
          if (isNotice(address, path, name)) wakeAfter(address, WAKE_AFTER_MS);
        };
        followed.set(
          address,
          reader.listFolders(address).map((path) => directories.add(path, hear, 'deaf')),
        );
        // For what came before the watching began.
        const at = due.get(address);
        if (reader.hasChanged(address)) wakeAfter(address, WAKE_AFTER_MS);
        else if (at !== undefined) wakeAfter(address, Math.max(0, at - clock.monotonic()));
      }
    };
    const listAgain = (): void => {
      try {
        follow?.(listMailboxes());
      } catch {
        for (const address of followed.keys()) wakeAfter(address, WAKE_AFTER_MS); // their polls report what is wrong
      }
    };
    const sweep = (): void => {
      listAgain();
      for (const address of followed.keys()) if (reader.hasChanged(address)) wakeAfter(address, WAKE_AFTER_MS);
    };
    directories.add(folder, () => timers.schedule(WAKE_AFTER_MS, LISTING, listAgain), 'always');
    const stop = new AbortController();
    stack.defer(() => stop.abort());
    void every({ name: 'sweep', ms: SWEEP_EVERY_MS, firstMs: SWEEP_EVERY_MS, round: sweep, clock }).run(stop.signal);
    listAgain();
    return stack;
  }

  return {
    id,
    kind,
    async personas() {
      const addresses = listMailboxes();
      follow?.(addresses);
      return addresses.map(named);
    },
    poll,
    pending: { once: async () => readPendingCounts() },
    isGone: ({ address }) => gone.has(address),
    hints: startHints,
    named,
    get defects() {
      return defects.lines;
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

const UNKNOWN_COUNTS: UnreadCounts = { unread: UNKNOWN, urgent: UNKNOWN };

function isSameCounts(counts: UnreadCounts | undefined, unread: number, urgent: number): counts is UnreadCounts {
  const isSame = (count: Count | undefined, n: number): boolean => count?.is === 'exact' && count.n === n;
  return isSame(counts?.unread, unread) && isSame(counts?.urgent, urgent);
}

const NOTHING = { unread: exactly(0), urgent: exactly(0), agentState: AGENT_STATE_NOT_REPORTED };

/** A new folder may get the number of one that was removed, so the time when it was made belongs to it. */
const toEpoch = ({ dev, ino, birthtimeMs = 0 }: Stat): string => `${dev}:${ino}:${birthtimeMs}`;

function wrapErrors<T>(is: 'persona' | 'source', key: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw toReadFault(is, key, error);
  }
}

function toReadFault(is: 'persona' | 'source', key: string, error: unknown): Fault {
  const scope = { is, key } as const;
  return new Fault('unreadable', toFault(error, scope).message, scope, { cause: error });
}
