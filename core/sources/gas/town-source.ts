import { join } from 'node:path';
import { AGENT_STATE_NOT_REPORTED, Fault, JSON_LIMITS, parseJson, UNKNOWN } from '../../model/index.ts';
import type { Clock, Log } from '../../ports/index.ts';
import { every } from '../../services/index.ts';
import { watchDirectories } from '../directories.node.ts';
import type { ProgramEnd } from '../run-program.node.ts';
import type { PendingCounts, Persona, PollResult, Source, UnreadCounts } from '../source.ts';
import { createDefectLog, createTimers, cut } from '../source-tools.ts';
import {
  countUnread,
  type GasMessage,
  groupByRecipient,
  isRecord,
  parseTownMail,
  toInboxFingerprint,
  toSetItems,
} from './message.ts';
import { createTownReply, OVERSEER, type RunGt } from './reply.ts';
import { GAS, GAS_PREFIX } from './settings.ts';
import { shareCalls } from './share-calls.ts';

export interface TownSourceOptions {
  /** The folder of the town. */
  readonly town: string;
  /** Runs `bd` with these arguments in the town. Never rejects. */
  readonly runBd: (args: readonly string[], signal: AbortSignal) => Promise<ProgramEnd>;
  readonly clock: Clock;
  readonly log: Log;
  /** How many code points of content an event has; null leaves content out. */
  readonly contentChars: number | null;
  /** How often it looks by itself. */
  readonly everyMs?: number;
  /** Runs what sends a reply of a person; absent: the settings do not allow it. */
  readonly runGt?: RunGt;
  /** How long an answer counts, because each look is two processes. Default: `everyMs`. */
  readonly validMs?: number;
  /** How long a member stays on the board who has no mail any more. */
  readonly retentionMs?: number;
}

/** Gas Town as a source. */
export interface TownSource extends Source {
  named(address: string): Persona;
  /** What is wrong with the town's mail, one line each. */
  readonly defects: readonly string[];
}

const EVERY_MS = 30_000;
const HINT_AFTER_MS = 5000;
const OWN_CHANGES_MS = 2000;
const RETENTION_MS = 600_000;
const LABEL_CHARS = 80;
const EPOCH = 'town';
const SCOPE = { is: 'source', key: GAS } as const;

/** Every message that is not archived. Without a limit, because a part of the mail would say that the rest is gone. */
const LIST = ['list', '--label', 'gt:message', '--json', '--limit', '0'];
/** `bd list` leaves out messages that are not kept. */
const WISPS = [
  'sql',
  '--json',
  'SELECT w.id, w.title, w.description, w.status, w.priority, w.assignee, w.created_at, l.label FROM wisps w ' +
    "JOIN wisp_labels l ON l.issue_id = w.id WHERE w.status <> 'closed' AND w.id IN " +
    "(SELECT issue_id FROM wisp_labels WHERE label = 'gt:message')",
];
/** A town keeps thousands of messages that were read. */
const LIMITS = { ...JSON_LIMITS, values: 1_000_000 };
const NOTHING_FOUND = /^No issues found\.?$/;
const NO_WISPS = /\bwisps?\b.*(?:not found|doesn't exist|does not exist)|(?:not found|no such table).*\bwisp/i;

interface TownView {
  readonly at: number;
  readonly byAddress: ReadonlyMap<string, readonly GasMessage[]>;
}

/**
 * The members of a town as personas, their mail as sets. Only `bd list --json` and `bd sql --json` with a SELECT are run, one at a
 * time: most other commands of Gas Town mark what they show (Gas City contract 2).
 */
export function createTownSource(options: TownSourceOptions): TownSource {
  const { town, runBd, clock, log, contentChars } = options;
  const { everyMs = EVERY_MS, validMs = everyMs, retentionMs = RETENTION_MS } = options;
  const defects = createDefectLog(log, GAS);
  const timers = createTimers(clock);
  /** Aborts when the source is closed. */
  const over = new AbortController();
  const seen = new Map<string, number>();
  const lastPolls = new Map<string, { readonly fingerprint: string; readonly counts: UnreadCounts }>();
  let view: TownView | null = null;
  /** Somebody changed the store since the last look. */
  let isDoubtful = false;
  /** Until then a change of the store's files may be one of bd itself, which looked for us. */
  let ownUntil = 0;
  /** Calls wait for each other, whoever asks. */
  let last: Promise<unknown> = Promise.resolve();
  const readShared = shareCalls(clock, (signal) => {
    const reading = last.then(() => read(signal));
    last = reading.catch(() => {}); // whoever asked has the fault
    return reading;
  });

  const named = (address: string): Persona => ({
    id: `${GAS_PREFIX}${toName(address)}`,
    address,
    label: address === OVERSEER ? 'you' : cut(toName(address), LABEL_CHARS),
  });

  async function read(signal: AbortSignal): Promise<TownView> {
    isDoubtful = false;
    ownUntil = Number.POSITIVE_INFINITY;
    try {
      return await readAll(signal);
    } finally {
      ownUntil = clock.monotonic() + OWN_CHANGES_MS;
    }
  }

  async function readAll(signal: AbortSignal): Promise<TownView> {
    const beads = parseList(await run(LIST, signal));
    const wisps = groupWisps(await readWisps(signal));
    const { messages, defects: flaws } = parseTownMail([...beads, ...wisps]);
    defects.report('messages', flaws);
    const now = clock.monotonic();
    view = { at: now, byAddress: groupByRecipient(messages) };
    for (const address of view.byAddress.keys()) seen.set(address, now);
    return view;
  }

  async function run(args: readonly string[], signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    const end = await runBd(args, signal);
    signal.throwIfAborted();
    const command = `bd ${args[0]} in ${town}`;
    if (end.is === 'timeout') throw new Fault('exec-timeout', `${command} did not end in time`, SCOPE);
    if (end.is === 'failed') throw new Fault('exec-failed', `${command}: ${end.why}`, SCOPE);
    if (end.code === 0) return end.stdout;
    const output = (end.stderr.trim() || end.stdout.trim()).slice(-300);
    throw new Fault('exec-failed', `${command} ended with ${end.code}: ${output}`, SCOPE);
  }

  /** A store from before there were wisps has none. */
  async function readWisps(signal: AbortSignal): Promise<readonly unknown[]> {
    let text: string;
    try {
      text = await run(WISPS, signal);
    } catch (error) {
      if (error instanceof Fault && error.code === 'exec-failed' && NO_WISPS.test(error.message)) return [];
      throw error;
    }
    return parseList(text);
  }

  async function getView(signal: AbortSignal): Promise<TownView> {
    if (view !== null && !isDoubtful && clock.monotonic() - view.at < validMs) return view;
    return await readShared(signal);
  }

  async function poll({ address }: Persona, signal: AbortSignal): Promise<PollResult> {
    const { byAddress } = await getView(signal);
    const messages = byAddress.get(address) ?? [];
    const counts = countUnread(messages);
    lastPolls.set(address, { fingerprint: toInboxFingerprint(messages), counts });
    const items = toSetItems(messages, contentChars);
    const agentState = AGENT_STATE_NOT_REPORTED;
    return { at: clock.now(), ...counts, agentState, evidence: { is: 'set', epoch: EPOCH, items } };
  }

  async function readPendingCounts(signal: AbortSignal): Promise<PendingCounts> {
    const { byAddress: inboxes } = await getView(signal);
    const byAddress = new Map<string, UnreadCounts>();
    for (const address of new Set([...listMembers(), ...lastPolls.keys()])) {
      const before = lastPolls.get(address);
      const isSame = before?.fingerprint === toInboxFingerprint(inboxes.get(address) ?? []);
      byAddress.set(address, before !== undefined && isSame ? before.counts : UNKNOWN_COUNTS);
    }
    return { at: clock.now(), byAddress, cursor: null };
  }

  const hasLeft = (address: string): boolean =>
    address !== OVERSEER &&
    view?.byAddress.has(address) !== true &&
    clock.monotonic() - (seen.get(address) ?? Number.NEGATIVE_INFINITY) >= retentionMs;

  function listMembers(): readonly string[] {
    for (const address of [...seen.keys()]) if (hasLeft(address)) seen.delete(address);
    return [...new Set([OVERSEER, ...seen.keys()])];
  }

  return {
    id: GAS,
    kind: 'gas-town',
    async personas(signal) {
      await getView(signal);
      return listMembers().map(named);
    },
    poll: (persona, _from, signal) => poll(persona, signal),
    pending: { once: readPendingCounts },
    ...(options.runGt === undefined ? {} : { reply: createTownReply(options.runGt) }),
    isGone({ address }) {
      if (view === null || !hasLeft(address)) return false;
      lastPolls.delete(address);
      return true;
    },
    hints(wake) {
      const stop = new AbortController();
      over.signal.addEventListener('abort', () => stop.abort(), { once: true });
      let heard = describe();
      async function round(signal: AbortSignal): Promise<void> {
        try {
          await readShared(signal);
        } catch (error) {
          if (signal.aborted) return;
          if (!(error instanceof Fault)) throw error;
          for (const address of lastPolls.keys()) wake(address); // their polls report what is wrong
          return;
        }
        const before = heard;
        heard = describe();
        for (const address of new Set([...before.keys(), ...heard.keys()]))
          if (before.get(address) !== heard.get(address)) wake(address);
      }
      const loop = every({ name: 'mail of the town', ms: everyMs, round, clock });
      const directories = watchDirectories({ clock, statOnly: false });
      directories.add(
        join(town, '.beads'),
        () => {
          if (clock.monotonic() < ownUntil) return;
          timers.schedule(HINT_AFTER_MS, 'store', () => {
            isDoubtful = true;
            loop.wake();
          });
        },
        'deaf',
      );
      void loop.run(stop.signal);
      return {
        [Symbol.dispose]() {
          stop.abort();
          directories[Symbol.dispose]();
          timers[Symbol.dispose]();
        },
      };
    },
    named,
    get defects() {
      return defects.lines;
    },
    async [Symbol.asyncDispose]() {
      over.abort();
      await readShared[Symbol.asyncDispose]();
      await last;
    },
  };

  function describe(): ReadonlyMap<string, string> {
    const inboxes = [...(view?.byAddress ?? [])];
    return new Map(inboxes.map(([address, messages]) => [address, toInboxFingerprint(messages)]));
  }
}

const UNKNOWN_COUNTS: UnreadCounts = { unread: UNKNOWN, urgent: UNKNOWN };

/** The name of a member in ids: `mayor/` is `mayor`, `gastown/Toast` is `gastown.Toast`. */
const toName = (address: string): string => address.replace(/\/+$/, '').replaceAll('/', '.');

/** bd writes a text instead of an empty list. Any other text that is no list is a fault. @throws Fault `not-json` or `shape` */
function parseList(text: string): readonly unknown[] {
  const trimmed = text.trim();
  if (NOTHING_FOUND.test(trimmed)) return [];
  let value: unknown;
  try {
    value = parseJson(trimmed, LIMITS);
  } catch (error) {
    throw new Fault('not-json', `bd wrote ${JSON.stringify(trimmed.slice(0, 100))}, which is no JSON`, SCOPE, {
      cause: error,
    });
  }
  if (value === null) return [];
  if (!Array.isArray(value)) throw new Fault('shape', 'bd wrote JSON that is no list', SCOPE);
  return value;
}

/** A row for each label becomes a bead with its labels. */
function groupWisps(rows: readonly unknown[]): readonly unknown[] {
  const beads = new Map<unknown, { labels: unknown[] }>();
  for (const row of rows) {
    if (!isRecord(row)) continue;
    const { label, ...bead } = row;
    const known = beads.get(row.id);
    if (known === undefined) beads.set(row.id, { ...bead, labels: [label] });
    else known.labels.push(label);
  }
  return [...beads.values()];
}
