import { AGENT_STATE_NOT_REPORTED, type AgentState, exactly, Fault, toFault, UNKNOWN } from '../../model/index.ts';
import type { Clock, Log } from '../../ports/index.ts';
import type { Disk } from '../../state/index.ts';
import type { PendingCounts, Persona, PollResult, SetEvidence, Source, UnreadCounts } from '../source.ts';
import { createDefectLog, createTimers, cut, toReadOnlyFiles } from '../source-tools.ts';
import {
  type AgentLiveness,
  type BoxReading,
  createBoxReader,
  createLivenessReader,
  createRecordReader,
  findStrays,
  type GardenPlaces,
  type LivenessProbes,
  type MetaRecord,
} from './read/index.ts';
import { createGardenFault, GARDEN, GARDEN_PREFIX } from './settings.ts';
import { createMailReader, type GardenChanges, NO_MAIL, watchStore } from './source-mail.ts';

export interface GardenOptions {
  readonly places: GardenPlaces;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly log: Log;
  readonly probes: LivenessProbes;
  /** How many code points of content an event has; null leaves content out. */
  readonly contentChars: number | null;
  /** Whether messages that were already read when first seen are delivered too. */
  readonly backfill: boolean;
  /** Watches nothing and checks every 10 s, as on a disk that sends no change notices. */
  readonly statOnly?: boolean;
}

/** A garden store as a source. */
export interface GardenSource extends Source {
  /** A citizen as a persona, also one whose record does not exist, or not any more. */
  named(gardenId: string): Persona;
  /** The record of a citizen as it was read last; null when there is none. */
  record(gardenId: string): MetaRecord | null;
  /** The citizen that is this session of its agent program; null for none. */
  findBySession(nativeSessionId: string): MetaRecord | null;
  /** The current problems of the store that concern no citizen's mail, one line each. */
  readonly defects: readonly string[];
}

/**
 * One store is one set for good. What a fresh cut removes is gone and delivered as gone, since nothing replaces it. Another store
 * has another identity (``open.ts``), and does not share these checkpoints.
 */
const EPOCH = 'store';
const WAKE_AFTER_MS = 2;
const LABEL_CHARS = 80;

/**
 * The citizens of a garden store as personas, their boxes as sets of messages (garden contract 7). Nothing below the directories
 * of the store is ever written: only `read/` is imported, and only read operations of the disk are used.
 */
export function createGardenSource(options: GardenOptions): GardenSource {
  const { places, clock, log, probes } = options;
  const disk = { ...options.disk, files: toReadOnlyFiles(options.disk.files, GARDEN) };
  const records = createRecordReader(disk, places.sessions, clock);
  const boxes = createBoxReader(disk, places.mailbox, () => clock.now());
  const lives = createLivenessReader(disk, places, probes, clock);
  const mail = createMailReader({ ...options, disk, mailbox: places.mailbox });
  const defects = createDefectLog(log, GARDEN);
  /** False until the first poll; until then no citizen counts as gone. */
  let wasRead = false;
  /** The citizens that were listed last. */
  let announced: ReadonlyMap<string, MetaRecord> = new Map();
  /** The state of each citizen at its last poll. */
  const lastPolls = new Map<string, CitizenPoll>();
  /** The last pending counts, when all were known; null once a poll found other counts. */
  let pending: ReadonlyMap<string, UnreadCounts> | null = null;
  let wakes: ((address: string) => void) | null = null;
  let changes: GardenChanges | null = null;
  const timers = createTimers(clock);

  const named = (gardenId: string): Persona => {
    const record = records.last.byId.get(gardenId) ?? null;
    return {
      id: `${GARDEN_PREFIX}${gardenId}`,
      address: gardenId,
      label: record === null ? gardenId : formatLabel(record),
    };
  };

  const wakeBox = (gardenId: string, ms: number): void => {
    if (wakes !== null) timers.schedule(ms, gardenId, () => wakes?.(gardenId));
  };

  /** Wakes the citizens that were added, removed, or have another record now. */
  async function refreshRecords(): Promise<void> {
    const before = announced;
    try {
      const { byId } = await records.refresh();
      announced = byId;
      reportRecords();
      if (byId === before) return;
      reportStrays();
      changes?.follow(byId.keys());
      for (const [gardenId, record] of byId) if (before.get(gardenId) !== record) wakes?.(gardenId);
      for (const gardenId of before.keys()) if (!byId.has(gardenId)) leave(gardenId);
    } catch {
      for (const gardenId of before.keys()) wakes?.(gardenId); // their polls report what is wrong
    }
  }

  function leave(gardenId: string): void {
    for (const memory of [boxes, lives, mail]) memory.forget(gardenId);
    for (const part of ['box', 'marker']) defects.report(`${part} ${gardenId}`, []);
    wakes?.(gardenId);
  }

  function reportRecords(): void {
    defects.report('records', records.last.errors);
  }

  /** Reports boxes without a citizen, and entries that are no boxes. */
  function reportStrays(): void {
    const strays = findStrays(disk, places.mailbox, new Set(records.last.byId.keys()));
    const isMarked = new Set(records.last.errors.map(({ filename }) => filename.split('.')[0]));
    defects.report('boxes', [
      ...strays.boxes
        .filter((gardenId) => !isMarked.has(gardenId))
        .map((filename) => ({ filename, message: 'belongs to no citizen' })),
      ...strays.others.map((filename) => ({ filename, message: 'is not a box: its name is not a garden id' })),
    ]);
    defects.report('sender markers', lives.senderErrors());
  }

  async function poll({ id, address }: Persona, from: Parameters<Source['poll']>[1]): Promise<PollResult> {
    const { byId, errors } = await wrapUnreadable(() => records.refresh());
    wasRead = true;
    const record = byId.get(address);
    if (record === undefined) {
      const defect = errors.find(({ filename }) => filename === `${address}.meta.json`);
      if (defect === undefined)
        return { at: clock.now(), ...NOTHING_UNREAD, agentState: AGENT_STATE_NOT_REPORTED, evidence: NO_MESSAGES };
      throw createGardenFault(`the record ${defect.filename} is invalid: ${defect.message}`, address);
    }
    const reading = await wrapUnreadable(() => boxes.open()(address, mail.isSure(address)));
    const { box } = reading;
    defects.report(`box ${address}`, reading.errors);
    if (box.is === 'refused') {
      throw new Fault('unreadable', `the box of ${address}: ${box.why}`, { is: 'persona', key: id });
    }
    const boxMail = box.is === 'none' ? NO_MAIL : mail.read(address, box, from);
    if (boxMail.againIn !== null) wakeBox(address, boxMail.againIn);
    const { unread } = boxMail;
    const { agent, errors: marker } = await lives.read({ record, unread });
    defects.report(`marker ${address}`, marker);
    const before = lastPolls.get(address);
    const counts = before?.unread === unread ? before.counts : toUnreadCounts(unread);
    if (before?.counts !== counts) pending = null;
    const isSame = before?.agent === agent && before.record === record;
    const agentState = isSame ? before.agentState : toAgentState(agent, record);
    lastPolls.set(address, { record, box: reading, unread, counts, agent, agentState });
    const evidence = boxMail.items.length === 0 ? NO_MESSAGES : { ...NO_MESSAGES, items: boxMail.items };
    return { at: clock.now(), ...counts, agentState, evidence };
  }

  /**
   * Pending counts. A citizen that has not changed since its poll has the counts of that poll; any other has unknown counts, so
   * it is polled. While nobody has changed, the counts are the same object, so that nobody has to compare them.
   */
  async function readPendingCounts(): Promise<PendingCounts> {
    const { byId } = await wrapUnreadable(() => records.refresh());
    const same = await wrapUnreadable(() => listUnchanged(byId));
    const agents = await lives.judgeAll(same);
    const isQuiet = same.length === byId.size && same.length === lastPolls.size;
    const isAllKnown = isQuiet && same.every(({ agent }, i) => agents[i] === agent);
    if (pending !== null && isAllKnown) return { at: clock.now(), byAddress: pending, cursor: null };
    const byAddress = new Map<string, UnreadCounts>();
    for (const gardenId of byId.keys()) byAddress.set(gardenId, UNKNOWN_COUNTS);
    for (const gardenId of lastPolls.keys()) {
      if (byId.has(gardenId)) continue;
      byAddress.set(gardenId, UNKNOWN_COUNTS);
      lastPolls.delete(gardenId);
    }
    for (const [i, { record, agent, counts }] of same.entries())
      if (agents[i] === agent) byAddress.set(record.gardenId, counts);
    pending = isAllKnown ? byAddress : null;
    return { at: clock.now(), byAddress, cursor: null };
  }

  /** Lists the citizens whose record and box are those of their last poll. */
  function listUnchanged(byId: ReadonlyMap<string, MetaRecord>): CitizenPoll[] {
    const readBox = boxes.open();
    const same: CitizenPoll[] = [];
    for (const [gardenId, record] of byId) {
      const box = readBox(gardenId, mail.isSure(gardenId));
      const before = lastPolls.get(gardenId);
      if (before !== undefined && before.record === record && before.box === box) same.push(before);
    }
    return same;
  }

  return {
    id: GARDEN,
    kind: 'garden-mailbox',
    async personas() {
      const { byId } = await wrapUnreadable(async () => {
        const listing = await records.refresh();
        reportRecords();
        reportStrays();
        return listing;
      });
      announced = byId;
      changes?.follow(byId.keys());
      return [...byId.keys()].map(named);
    },
    poll: (persona, from) => poll(persona, from),
    pending: { once: readPendingCounts },
    isGone: ({ address }) => wasRead && !records.last.byId.has(address),
    hints(wake) {
      wakes = wake;
      const listener = {
        box: (gardenId: string) => wakeBox(gardenId, WAKE_AFTER_MS),
        records: (inPlace: boolean) => {
          if (inPlace) records.doubt();
          timers.schedule(WAKE_AFTER_MS, 'records', () => void refreshRecords());
        },
      };
      changes = watchStore({ places, clock, listener, statOnly: options.statOnly === true });
      changes.follow(announced.keys());
      listener.records(false); // what changed since the listing
      return {
        [Symbol.dispose]() {
          wakes = null;
          changes?.[Symbol.dispose]();
          changes = null;
          timers[Symbol.dispose]();
        },
      };
    },
    named,
    record: (gardenId) => records.last.byId.get(gardenId) ?? null,
    findBySession: (id) => records.last.byId.values().find(({ nativeSessionId }) => nativeSessionId === id) ?? null,
    get defects() {
      return defects.lines;
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

/** A store that cannot be read affects every citizen alike, so it is one cause (garden contract 7). */
async function wrapUnreadable<T>(read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const scope = { is: 'source', key: GARDEN } as const;
    const { message } = toFault(error, scope);
    throw new Fault('unreadable', message, scope, { cause: error });
  }
}

interface CitizenPoll {
  readonly record: MetaRecord;
  readonly box: BoxReading;
  readonly unread: number;
  readonly counts: UnreadCounts;
  readonly agent: AgentLiveness;
  readonly agentState: AgentState;
}

// What most citizens have is shared, because there may be thousands of them.
const NO_MESSAGES: SetEvidence = { is: 'set', epoch: EPOCH, items: [] };
const UNKNOWN_COUNTS: UnreadCounts = { unread: UNKNOWN, urgent: UNKNOWN };
const NOTHING_UNREAD: UnreadCounts = { unread: exactly(0), urgent: exactly(0) };

function toUnreadCounts(unread: number): UnreadCounts {
  return unread === 0 ? NOTHING_UNREAD : { unread: exactly(unread), urgent: NOTHING_UNREAD.urgent };
}

/** A marker says whether the agent lives, and its record where it works. Neither says what it does. */
function toAgentState({ is, reasons }: AgentLiveness, record: MetaRecord): AgentState {
  const [why] = reasons;
  const model = 'model' in record ? record.model : null;
  const details = { cwd: record.cwd, ...(model === null ? {} : { model }) };
  if (is !== 'live') return { is, why: why ?? 'not-reported', ...details };
  return why === undefined ? { is, ...details } : { is, why, ...details };
}

/** `<backend> · <folder>`. A record can name any folder, so the folder is cleaned and cut. */
function formatLabel({ backend, cwd }: MetaRecord): string {
  const folder = cwd.split(/[/\\]/).findLast((part) => part !== '') ?? '/';
  const cleanFolder = folder.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '');
  return `${backend} · ${cut(cleanFolder, LABEL_CHARS)}`;
}
