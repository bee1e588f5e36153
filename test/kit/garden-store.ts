import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Clock, type Random, realRandom, silentLog } from '../../core/ports/index.ts';
import { computeGardenPlaces, type GardenPlaces, type WriteContext } from '../../core/sources/garden/index.ts';
import { createRealDisk } from '../../core/state/index.ts';
import { type Scratch, scratch } from './scratch.ts';

const DATA = fileURLToPath(import.meta.resolve('../data/garden'));

/** What the reference said or threw. */
export type Answer<T> = { readonly ok: T; readonly error?: never } | { readonly error: string; readonly ok?: never };

type Values = Readonly<Record<string, unknown>>;

/** One thing the reference was asked to do while the store was made. */
export interface Op {
  readonly op: 'upsert' | 'enqueue' | 'doorbell' | 'readInbox' | 'write-v1';
  readonly label: string;
  readonly now: string;
  readonly gardenId: string;
  readonly input: { readonly backend: string; readonly nativeSessionId: string; readonly cwd: string };
  readonly action: 'create' | 'attach';
  readonly record: Values;
  readonly file: string;
  readonly files: readonly string[];
  readonly readAt: string | null;
  readonly exit: number;
}

export interface GardenReference {
  readonly citizens: Readonly<
    Record<
      string,
      {
        readonly gardenId: string;
        readonly mailboxFiles: readonly string[] | null;
        readonly fresh: number;
        readonly delivered: number;
        readonly read: number;
        readonly unread: number;
        readonly signal: string | null;
        readonly receipt: Answer<Values>;
      }
    >
  >;
  readonly ops: readonly Op[];
  readonly malformed: Readonly<Record<string, Answer<'parses'>>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly entries: readonly string[];
  readonly listAllMetaIdentities: { readonly identities: readonly Values[]; readonly errors: readonly Defects[] };
  readonly listStrict: Answer<never>;
  readonly scan: Readonly<
    Record<'known' | 'missing' | 'duplicate' | 'v1OnlyReaderOnV2' | 'empty', Answer<Values | null>>
  >;
  readonly readByGardenId: Readonly<
    Record<'drift' | 'driftBodyId' | 'unknown' | 'badGrammar' | 'upperHex', Answer<never>>
  >;
  readonly receiverMarkers: Readonly<Record<string, { readonly verified: boolean; readonly unverified: boolean }>>;
  readonly senderMarkers: Readonly<Record<string, { readonly verified: boolean; readonly unverified: boolean }>>;
  readonly drainOfACopy: Readonly<
    Record<
      string,
      {
        readonly ok: { readonly messages: readonly { file: string; body: string }[]; readonly readAt: string | null };
        readonly filesAfter: readonly string[] | null;
        readonly stateAfter: string | null;
      }
    >
  >;
  readonly enqueueErrors: Readonly<Record<'orphan' | 'emptyBody', Answer<never>>>;
  readonly upsertErrors: Readonly<Record<'duplicate' | 'backendDrift' | 'badBackend', Answer<never>>>;
}

interface Defects {
  readonly filename: string;
  readonly message: string;
}

export interface ExpectedV3 {
  readonly ops: readonly Op[];
  readonly citizens: Readonly<
    Record<
      string,
      { readonly gardenId: string; readonly mailboxFiles: readonly string[] | null; unread: number; receipt: Values }
    >
  >;
  readonly pid1Marker: { readonly error: string };
  readonly list: { readonly identities: readonly Values[]; readonly errors: readonly Defects[] };
}

const json = (name: string): unknown => JSON.parse(readFileSync(join(DATA, name), 'utf8'));
export const EXPECTED = json('expected.json') as GardenReference;
export const EXPECTED_V3 = json('expected-v3.json') as ExpectedV3;

/** The garden id of a label of the data. */
export function findCitizenId(label: string): string {
  const id = EXPECTED.labels[label];
  if (id === undefined) throw new Error(`no citizen ${label}`);
  return id;
}

/** A store of a test's own. */
export interface Garden extends Scratch {
  readonly store: string;
  readonly places: GardenPlaces;
  /** The names in a citizen's box, sorted; null when it has none. */
  box(gardenId: string): readonly string[] | null;
  /** What the reference said, with this store in the place of its own, and without the name of its error. */
  toPlainMessage(text: string | undefined): string;
  /** Every file and directory below the store with mode and bytes. */
  tree(): Readonly<Record<string, string>>;
}

export function garden(contents: 'store' | 'store-v3' | 'empty' = 'empty'): Garden {
  const files = scratch();
  const store = files.at('agent');
  mkdirSync(store);
  if (contents !== 'empty') cpSync(join(DATA, contents), store, { recursive: true });
  const places = computeGardenPlaces({
    store,
    env: { ENTWURF_DIR: files.at('control') },
    home: files.dir,
    cwd: files.dir,
  });
  return {
    ...files,
    store,
    places,
    box: (gardenId) => {
      const directory = join(places.mailbox, gardenId);
      return existsSync(directory) ? readdirSync(directory).sort() : null;
    },
    toPlainMessage: (text = '') => text.replace(/^\w*Error: /, '').replaceAll('<store>', store),
    tree: () =>
      Object.fromEntries(
        (readdirSync(store, { recursive: true }) as string[]).sort().map((name) => {
          const stat = statSync(join(store, name));
          const mode = stat.mode.toString(8);
          return [name, stat.isFile() ? `${mode} ${stat.mtimeMs} ${readFileSync(join(store, name), 'utf8')}` : mode];
        }),
      ),
  };
}

/** Local time where the data was made. */
const KST_MS = 9 * 3_600_000;
const stampAt = (at: number): string => new Date(at + KST_MS).toISOString().replaceAll(/[-:]|\..*/g, '');

export interface HandOptions {
  readonly now?: string;
  /** What is drawn for ids and stems, in order; random without it. Names of temporary files are longer. */
  readonly hex?: readonly string[];
  readonly sleep?: Clock['sleep'];
}

/** A hand on the real disk, where it is `now` in Seoul. */
export function handAt({ now = '2026-06-14T06:00:00.000Z', hex = [], sleep }: HandOptions = {}): WriteContext {
  const rest = [...hex];
  const random: Random = { hex: (bytes) => (bytes === 3 ? rest.shift() : undefined) ?? realRandom.hex(bytes) };
  const clock = { now: () => Date.parse(now), sleep: sleep ?? (async () => {}) };
  return { disk: createRealDisk(silentLog), random, clock, formatLocalStamp: stampAt };
}

/** As the hook of the other program does it: all fresh ones at once, then the count of all. */
export function doorbell(
  places: GardenPlaces,
  gardenId: string,
): { readonly exit: number; readonly announced: number } {
  const directory = join(places.mailbox, gardenId);
  let rang = 0;
  for (const name of readdirSync(directory).filter((filename) => filename.endsWith('.msg'))) {
    try {
      renameSync(join(directory, name), join(directory, `${name}.delivered`));
      rang += 1;
    } catch {
      // read meanwhile
    }
  }
  const announced = readdirSync(directory).filter((name) => name.endsWith('.delivered')).length;
  return { exit: rang > 0 ? 2 : 0, announced };
}

/** The markers whose owner lives in the data, for a process that does. */
export function fillLiveMarkers({ store }: Garden, pid: number, startKey: string): void {
  const templates = join(DATA, 'store/live-marker-templates');
  for (const name of readdirSync(templates, { recursive: true }) as string[]) {
    if (!name.endsWith('.json')) continue;
    const text = readFileSync(join(templates, name), 'utf8');
    const path = join(store, name.replace('__LIVE_PID__', `${pid}`));
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, text.replaceAll('__LIVE_PID__', `${pid}`).replaceAll('__LIVE_START_KEY__', startKey));
  }
}
