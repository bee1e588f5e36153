import { appendFileSync, cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Files, O, realFiles } from '../../core/ports/index.ts';
import {
  type Attention,
  type BoardSummary,
  type Cursor,
  createJournalReader,
  type JournalReader,
  type JournalReaderOptions,
  type JournalView,
  type ProjectCounts,
  toBoardSummary,
} from '../../core/sources/brainclaw/read/index.ts';
import { type Scratch, scratch } from './scratch.ts';

export const DATA = fileURLToPath(import.meta.resolve('../data/brainclaw'));

interface Step {
  readonly append: string;
  readonly to: string;
  readonly bytes: number;
  readonly after: Readonly<Record<string, unknown>> & {
    readonly applied: number;
    readonly cursor: number;
    readonly entities: number;
    readonly attention_required: Attention;
    readonly counts: ProjectCounts;
  };
}

/** What the reference made of the data. */
export interface ProjectReference {
  readonly observer: BoardSummary & {
    readonly applied: number;
    readonly cursor: { readonly seq: number; readonly checkpoint_seq: number };
    readonly affectedTypes: readonly string[];
    readonly checks: Readonly<Record<string, unknown>>;
  };
  readonly segments: readonly { readonly name: string; readonly bytes: number; readonly lines: number }[];
  readonly genesisSeq: number;
  readonly beforeRegistryGenesis: ProjectCounts;
  readonly strictReader: { readonly records: number; readonly classes: Readonly<Record<string, number>> };
  readonly coldFromCheckpoint: {
    readonly entities: number;
    readonly cursor: { readonly seq: number; readonly checkpoint_seq: number };
    readonly attention_required: Attention;
    readonly missingVersusFullReplay: readonly string[];
  };
  readonly checkpoint: {
    readonly manifest: {
      readonly store_id: string;
      readonly head_seq: number;
      readonly head_identity: string;
      readonly entity_count: number;
    };
  };
  readonly dupSeq: { readonly seq: number; readonly item: string; readonly coldReplayText: string };
  readonly tornTail: { readonly segment: string; readonly fragmentSeq: number };
  readonly inbox: Readonly<
    Record<
      string,
      { readonly messages: number; readonly pending: number; readonly actionable: number; readonly skipped: number }
    >
  >;
  readonly steps: readonly Step[];
  readonly until: readonly {
    readonly until: number;
    readonly registryAuthoritative: boolean;
    readonly entities: number;
    readonly counts: ProjectCounts;
    readonly attention_required: Attention;
  }[];
}

export const EXPECTED = JSON.parse(readFileSync(join(DATA, 'expected.json'), 'utf8')) as ProjectReference;

/** The bytes of a step, by its number from 1. */
export const stepBytes = (number: number): Buffer => readFileSync(join(DATA, 'steps', stepAt(number).append));

export function stepAt(number: number): Step {
  const step = EXPECTED.steps[number - 1];
  if (step === undefined) throw new Error(`there is no step ${number}`);
  return step;
}

/** A copy of the store of the data, to change at will. */
export interface Store extends Scratch {
  /** `.brainclaw` of it. */
  readonly root: string;
  /** `events` of it. */
  readonly journal: string;
  event(name: string): string;
  /** Appends a step of the data, by its number from 1. */
  step(number: number): void;
  open(options?: JournalReaderOptions): JournalReader;
}

export function brainclaw(): Store {
  const place = scratch();
  const root = place.at('.brainclaw');
  const journal = join(root, 'events');
  cpSync(join(DATA, 'journal', '.brainclaw'), root, { recursive: true });
  const event = (name: string): string => join(journal, name);
  return {
    ...place,
    root,
    journal,
    event,
    step: (number) => appendFileSync(event(stepAt(number).to), stepBytes(number)),
    open: (options) => createJournalReader(realFiles, journal, options),
  };
}

/** A journal that was read and is on. */
export function viewed(journal: JournalReader): JournalView {
  journal.refresh();
  if (journal.view === null) throw new Error('the journal is off');
  return journal.view;
}

/** All that a reader says of a project, as plain values to compare. */
export function describeView(view: JournalView): Readonly<Record<string, unknown>> {
  const { replay } = view;
  const { projection } = replay;
  return {
    board: toBoardSummary(projection),
    items: projection.types
      .toSorted()
      .map((itemType) => [itemType, [...projection.getByType(itemType).entries()].sort()]),
    activity: projection.activity,
    applied: replay.applied,
    cursor: replay.cursor,
    diagnosis: replay.diagnosis,
    missing: replay.missing,
    affected: [...replay.affectedTypes].sort(),
    identity: replay.identity,
    segments: view.segments,
    decoys: view.decoys,
    isComplete: view.isComplete,
  };
}

/** The cursor as the reference has it. */
export const getSeq = ({ replay }: JournalView): number => getCursor({ replay }).seq;

export function getCursor({ replay }: Pick<JournalView, 'replay'>): Cursor {
  if (replay.cursor === null) throw new Error('nothing was applied');
  return replay.cursor;
}

/** The real files, of which every call but those of reading throws, and every open that could write. */
export function readOnlyFiles(): { readonly files: Files; readonly opened: readonly string[] } {
  const opened: string[] = [];
  const allowed: Partial<Files> = {
    open: (path, flags, mode) => {
      if (flags !== (O.RDONLY | O.NOFOLLOW | O.NONBLOCK)) throw new Error(`${path}: opened with ${flags}`);
      opened.push(path);
      return realFiles.open(path, flags, mode);
    },
    read: realFiles.read,
    fstat: realFiles.fstat,
    close: realFiles.close,
    readdir: realFiles.readdir,
    lstat: realFiles.lstat,
  };
  const files = new Proxy(allowed, {
    get: (target, name) => {
      const call = Reflect.get(target, name) as unknown;
      if (call === undefined) throw new Error(`${String(name)} was called`);
      return call;
    },
  }) as Files;
  return { files, opened };
}

/** The last segment of the data, and the one that its steps begin. */
export const LAST = 'seg-00000259.jsonl';
export const NEXT = 'seg-00000362.jsonl';

/** A record as it is appended, a plan to do unless told otherwise. */
export const line = (seq: unknown, more: Readonly<Record<string, unknown>> = {}): string =>
  `\n${JSON.stringify({
    ...{ v: 2, seq, ts: '2026-06-20T10:00:00.000Z', writer: 'w_1-abcdef', agent: 'codex', action: 'create' },
    ...{ item_type: 'plan', item_id: `pln_${seq}`, entity_rev: 1, payload: { status: 'todo' }, ...more },
  })}\n`;
/** What a reader says that starts now. */
export const openCold = (store: Store, saved: Cursor | null = null): JournalView => viewed(store.open({ saved }));
/** Ends the torn record of the data, so that lines can follow it. */
export const ended = (store: Store): Store => {
  store.step(1);
  return store;
};
