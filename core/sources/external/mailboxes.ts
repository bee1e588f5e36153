import { formatIso, type Instant, parseJson, parseTimestamp, toFault } from '../../model/index.ts';
import { untilAborted } from '../../services/index.ts';
import { amqLayout } from '../amq/index.ts';
import {
  createFlatLayout,
  createMailFolderSource,
  type MailLayout,
  maildirLayout,
  type ParsedMessage,
} from '../mail-folders/index.ts';
import type { SourceHost } from '../module.ts';
import type { PollResult } from '../source.ts';
import type { Engine } from './engine.ts';
import { SourceFault } from './faults.ts';
import { readLine } from './lines.ts';
import type { ExternalSource } from './settings.ts';

/** Content is cut again for its event. */
const CONTENT_CHARS = 10_000;

/** The folders of mailboxes that `source add --maildir` knows (specs/sources/external-source, section 2). */
const LAYOUTS: Readonly<Record<NonNullable<ExternalSource['layout']>, MailLayout>> = {
  amq: amqLayout,
  maildir: maildirLayout,
  flat: createFlatLayout(parseJsonMessage),
};

/** A folder of mailboxes as the engine of a source: Hivebar reads it itself, and each mailbox is polled alone. */
export function createMailboxEngine(
  { name, path = '', layout = 'maildir', stalledAfter }: ExternalSource,
  { clock, disk, log, contentChars }: Pick<SourceHost, 'clock' | 'disk' | 'log' | 'contentChars'>,
): Engine {
  const source = createMailFolderSource({
    ...{ id: name, kind: name, root: path, layout: LAYOUTS[layout], disk, clock, log, contentChars },
    toPersonaId: (address) => `${name}-${address}`,
  });
  const ages = stalledAfter === undefined ? null : createUnreadAges(stalledAfter * 1000);
  let why: string | null = null;
  let failures = 0;
  let personas = 0;
  let lastAnswerAt: Instant | null = null;

  /** What `hivebar source show` says of it: whether the folder itself can be read. */
  async function note<T>(work: () => Promise<T>): Promise<T> {
    try {
      const result = await work();
      why = null;
      failures = 0;
      lastAnswerAt = clock.now();
      return result;
    } catch (error) {
      const fault = toFault(error, { is: 'source', key: name });
      if (fault.scope.is === 'source') {
        why = fault.explain();
        failures += 1;
      }
      throw error;
    }
  }

  return {
    title: { kind: name, label: name, can: [] },
    run: (signal) => untilAborted(signal),
    list: async (signal) =>
      await note(async () => {
        const found = await source.personas(signal);
        personas = found.length;
        return found;
      }),
    poll: async (persona, from, signal) =>
      await note(async () => {
        const result = await source.poll(persona, from, signal);
        return ages === null ? result : ages.judge(persona.address, result);
      }),
    named: source.named,
    isGone: (address) => source.isGone?.(source.named(address)) === true,
    hints: (wake) => source.hints?.(wake) ?? { [Symbol.dispose]: () => {} },
    async act() {
      throw new SourceFault('source-config', name, 'it is a folder that is only read');
    },
    listKeys: () => new Map(),
    findTargets: () => ({ line: null, open: null }),
    report: () => ({
      state: why !== null ? 'failing' : lastAnswerAt === null ? 'starting' : 'up',
      ...{ why, personas, failures, lastAnswerAt, pid: null },
      ...{ diagnostics: source.defects, stderr: [] },
    }),
    [Symbol.asyncDispose]: () => source[Symbol.asyncDispose](),
  };
}

/** Remembers since when messages are unread: mail that nobody takes makes an agent stalled (specs/sources/external-source, section 2). */
function createUnreadAges(stalledAfterMs: number): { judge(address: string, result: PollResult): PollResult } {
  const mailboxes = new Map<string, ReadonlyMap<string, Instant>>();
  return {
    judge(address, result) {
      const { at, evidence, agentState } = result;
      const before = mailboxes.get(address);
      const unread = evidence.is === 'set' ? evidence.items.filter(({ fingerprint }) => fingerprint === 'unread') : [];
      const ages = new Map(unread.map(({ key }) => [key, before?.get(key) ?? at]));
      mailboxes.set(address, ages);
      let oldest = at;
      for (const since of ages.values()) oldest = Math.min(oldest, since);
      if (at - oldest < stalledAfterMs || agentState.is === 'gone') return result;
      return { ...result, agentState: { is: 'stalled', why: 'nobody takes it', since: oldest + stalledAfterMs } };
    },
  };
}

/** A JSON file of a folder: the keys of an `item`, without those that its place says already. Null for any other text. */
export function parseJsonMessage(text: string): ParsedMessage | null {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return null; // it may still be written
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const reading = readLine({ ...value, op: 'item', persona: 'mailbox', key: 'file', state: 'unread' }, CONTENT_CHARS);
  if (reading.is !== 'line' || reading.line.op !== 'item') return null;
  const { kind, from, created, content, subject, thread, urgent, extra } = reading.line;
  const at = created === null ? null : parseTimestamp(created);
  const seconds = at === null ? 0 : Math.floor(at / 1000);
  return {
    appeared: kind === 'mail' ? 'new' : kind,
    from,
    created: at === null ? null : formatIso(at),
    order: [seconds, at === null ? 0 : Math.round((at - seconds * 1000) * 1e6)],
    content: content ?? '',
    extra: {
      ...extra,
      ...(subject === null ? {} : { subject }),
      ...(thread === null ? {} : { thread }),
      ...(urgent ? { priority: 'urgent' } : {}),
    },
  };
}
