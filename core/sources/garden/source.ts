import {
  exactly,
  Fault,
  faultOf,
  SOURCE_PREFIXES,
  type SourceId,
  UNKNOWN,
  VITAL_NOT_REPORTED,
  type Vital,
} from '../../model/index.ts';
import type { Clock, Log } from '../../ports/index.ts';
import type { Disk } from '../../state/index.ts';
import { defectLog } from '../defect-log.ts';
import { onlyReading } from '../only-reading.ts';
import type { Level, Levels, Look, Persona, Source } from '../source.ts';
import { cut } from '../text.ts';
import { keepTimers } from '../timers.ts';
import { gardenFault } from './fault.ts';
import {
  type Agent,
  type Asks,
  type BoxSeen,
  keepBoxes,
  keepLives,
  keepRecords,
  type MetaRecord,
  type Places,
  straysIn,
} from './read/index.ts';
import { type Changes, watchStore } from './source-changes.ts';
import { createMailReader } from './source-mail.ts';

export interface GardenOptions {
  readonly places: Places;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly log: Log;
  readonly asks: Asks;
  /** Code points of content in an event; null leaves it out. */
  readonly contentChars: number | null;
  /** Messages that are read when they are first seen are told all the same. */
  readonly backfill: boolean;
  /** Nothing is watched, as on a disk that tells of no change: it is looked at every 10 s. */
  readonly statOnly?: boolean;
}

/** A garden store as a source. */
export interface GardenSource extends Source {
  /** A citizen as a persona, also one whose record is not there (any more). */
  named(gardenId: string): Persona;
  /** The record of a citizen as it was read last; null: it is none. */
  record(gardenId: string): MetaRecord | null;
  /** What is wrong in the store and about no citizen's mail, a line each. */
  readonly defects: readonly string[];
}

export const GARDEN: SourceId = 'garden';
/**
 * One store is one set for good: what a fresh cut takes away is gone, and told, since nothing stands in its place. Another
 * store is another identity (`app/compose/garden.ts`), and its positions are not these.
 */
const EPOCH = 'store';
const WAKE_AFTER_MS = 2;
const LABEL_CHARS = 80;

/**
 * The citizens of a garden store as personas, their boxes as sets of messages (garden contract 7). Nothing below the
 * directories of the store is ever written: only `read/` is imported, and of the disk only what reads is used.
 */
export function gardenSource(options: GardenOptions): GardenSource {
  const { places, clock, log, asks } = options;
  const disk = { ...options.disk, files: onlyReading(options.disk.files, GARDEN) };
  const records = keepRecords(disk, places.sessions, clock);
  const boxes = keepBoxes(disk, places.mailbox, () => clock.now());
  const lives = keepLives(disk, places, asks, clock);
  const mail = createMailReader({ ...options, disk, mailbox: places.mailbox });
  const defects = defectLog(log, GARDEN);
  /** Before that nobody is known to be gone. */
  let wasRead = false;
  /** Who was announced. */
  let announced: ReadonlyMap<string, MetaRecord> = new Map();
  const labels = new WeakMap<MetaRecord, string>();
  /** What each was when it was looked at last. */
  const looked = new Map<string, Looked>();
  let wakes: ((address: string) => void) | null = null;
  let changes: Changes | null = null;
  const timers = keepTimers(clock);

  const labelled = (record: MetaRecord): string => {
    const known = labels.get(record);
    if (known !== undefined) return known;
    const label = labelOf(record);
    labels.set(record, label);
    return label;
  };
  const named = (gardenId: string): Persona => {
    const record = records.last.byId.get(gardenId) ?? null;
    return {
      id: `${SOURCE_PREFIXES.garden}${gardenId}`,
      address: gardenId,
      label: record === null ? gardenId : labelled(record),
    };
  };

  const wakeBox = (gardenId: string, ms: number): void => {
    if (wakes !== null) timers.in(ms, gardenId, () => wakes?.(gardenId));
  };

  /** Tells who came, who went, and who is somebody else now. */
  async function census(): Promise<void> {
    const before = announced;
    try {
      const { byId } = await records.now();
      announced = byId;
      sayRecords();
      if (byId === before) return;
      sayRest();
      changes?.follow(byId.keys());
      for (const [gardenId, record] of byId) if (before.get(gardenId) !== record) wakes?.(gardenId);
      for (const gardenId of before.keys()) if (!byId.has(gardenId)) leave(gardenId);
    } catch {
      for (const gardenId of before.keys()) wakes?.(gardenId); // their looks say what is wrong
    }
  }

  function leave(gardenId: string): void {
    for (const memory of [boxes, lives, mail]) memory.forget(gardenId);
    for (const part of ['box', 'marker']) defects.now(`${part} ${gardenId}`, []);
    wakes?.(gardenId);
  }

  function sayRecords(): void {
    defects.now('records', records.last.errors);
  }

  /** Boxes of nobody, and what is no box. */
  function sayRest(): void {
    const strays = straysIn(disk, places.mailbox, new Set(records.last.byId.keys()));
    const isMarked = new Set(records.last.errors.map(({ filename }) => filename.split('.')[0]));
    defects.now('boxes', [
      ...strays.boxes
        .filter((gardenId) => !isMarked.has(gardenId))
        .map((filename) => ({ filename, message: 'is the box of no citizen' })),
      ...strays.others.map((filename) => ({ filename, message: 'is no box: its name is no garden id' })),
    ]);
    defects.now('sender markers', lives.senderErrors());
  }

  async function look({ id, address }: Persona, from: Parameters<Source['look']>[1]): Promise<Look> {
    const { byId, errors } = await readable(() => records.now());
    wasRead = true;
    const record = byId.get(address);
    const none = { at: clock.now(), urgent: exactly(0), evidence: { is: 'set', epoch: EPOCH, items: [] } } as const;
    if (record === undefined) {
      const defect = errors.find(({ filename }) => filename === `${address}.meta.json`);
      if (defect === undefined) return { ...none, unread: exactly(0), vital: VITAL_NOT_REPORTED };
      throw gardenFault(`the record ${defect.filename} is none: ${defect.message}`, address);
    }
    const seen = await readable(() => boxes.look(address, mail.isSure(address)));
    const { box } = seen;
    defects.now(`box ${address}`, seen.errors);
    if (box.is === 'refused') {
      throw new Fault('unreadable', `the box of ${address}: ${box.why}`, { is: 'persona', key: id });
    }
    const said = box.is === 'none' ? { items: [], unread: 0, againIn: null } : mail.read(address, box, from);
    if (said.againIn !== null) wakeBox(address, said.againIn);
    const { unread } = said;
    const { agent, errors: marker } = await lives.of(record, unread);
    defects.now(`marker ${address}`, marker);
    looked.set(address, { record, box: seen, unread, agent: wordsOf(agent) });
    const evidence = { is: 'set', epoch: EPOCH, items: said.items } as const;
    return { ...none, at: clock.now(), unread: exactly(unread), vital: vitalOf(agent), evidence };
  }

  /** Of what is as it was when it was looked at, the counts of then. Of anything else nothing: then it is looked at. */
  async function levels(): Promise<Levels> {
    const { byId } = await readable(() => records.now());
    const of = new Map<string, Level>();
    for (const gardenId of looked.keys()) {
      if (byId.has(gardenId)) continue;
      of.set(gardenId, NOT_KNOWN);
      looked.delete(gardenId);
    }
    const boxed = await readable(() => [...byId.keys()].map((gardenId) => boxes.look(gardenId, mail.isSure(gardenId))));
    const asked = [...byId].map(async ([gardenId, record], i) => {
      const before = looked.get(gardenId);
      const isSame = before !== undefined && before.record === record && before.box === boxed[i];
      const agent = isSame ? wordsOf((await lives.of(record, before.unread)).agent) : null;
      of.set(gardenId, isSame && agent === before.agent ? levelOf(before.unread) : NOT_KNOWN);
    });
    await Promise.all(asked);
    return { at: clock.now(), of, cursor: null };
  }

  return {
    id: GARDEN,
    kind: 'garden-mailbox',
    async personas() {
      const { byId } = await readable(async () => {
        const kept = await records.now();
        sayRecords();
        sayRest();
        return kept;
      });
      announced = byId;
      changes?.follow(byId.keys());
      return [...byId.keys()].map(named);
    },
    look: (persona, from) => look(persona, from),
    pending: { once: levels },
    isGone: ({ address }) => wasRead && !records.last.byId.has(address),
    hints(wake) {
      wakes = wake;
      const heard = {
        box: (gardenId: string) => wakeBox(gardenId, WAKE_AFTER_MS),
        records: (inPlace: boolean) => {
          if (inPlace) records.doubt();
          timers.in(WAKE_AFTER_MS, 'records', () => void census());
        },
      };
      changes = watchStore({ places, clock, heard, statOnly: options.statOnly === true });
      changes.follow(announced.keys());
      heard.records(false); // what came since it was listed
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
    get defects() {
      return defects.all;
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

/** What can not be read concerns every citizen alike: one cause (garden contract 7). */
async function readable<T>(read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const scope = { is: 'source', key: GARDEN } as const;
    const { message } = faultOf(error, scope);
    throw new Fault('unreadable', message, scope, { cause: error });
  }
}

interface Looked {
  readonly record: MetaRecord;
  readonly box: BoxSeen;
  readonly unread: number;
  readonly agent: string;
}

const NOT_KNOWN: Level = { unread: UNKNOWN, urgent: UNKNOWN };

function levelOf(unread: number): Level {
  return { unread: exactly(unread), urgent: exactly(0) };
}

function wordsOf({ is, reasons }: Agent): string {
  return [is, ...reasons].join(' ');
}

function vitalOf({ is, reasons }: Agent): Vital {
  const [why] = reasons;
  if (is === 'live') return why === undefined ? { is } : { is, why };
  return { is, why: why ?? 'not-reported' };
}

/** `<backend> · <folder>`: the folder is whatever a record says, so it is cleaned and cut. */
function labelOf({ backend, cwd }: MetaRecord): string {
  const folder = cwd.split(/[/\\]/).findLast((part) => part !== '') ?? '/';
  const shown = folder.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '');
  return `${backend} · ${cut(shown, LABEL_CHARS)}`;
}
