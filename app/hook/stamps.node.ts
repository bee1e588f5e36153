import * as fs from 'node:fs';
import { request } from 'node:http';
import { dirname, join } from 'node:path';
import { Fault, isOwnId, LOCAL_PREFIX, type PersonaId } from '../../core/model/index.ts';
import { type Clock, type Random, realFiles } from '../../core/ports/index.ts';
import { SOURCE_IDS } from '../../core/sources/derived.ts';
import {
  type Database,
  getErrno,
  migrate,
  readText,
  removeStamp,
  STAMP_IN_MAKING,
  toIoFault,
  toStem,
} from '../../core/state/index.ts';
import { formatStamp, type Stamp } from './stamp-text.ts';

/** The directory of stamps, and what writing one needs. */
export interface StampPlace {
  readonly run: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly random: Random;
}

/** What was read from the database and the gates. */
export type StampFacts = Omit<Stamp, 'persona'>;

/** `busy` means that another process is just writing, so the existing stamp stays as it is. */
export type StampResult = 'written' | 'unchanged' | 'removed' | 'busy';

/**
 * A stamp is dated this much before the read, because the clock of a file system advances by jiffies and is up to 10 ms behind.
 */
const BACK_MS = 100;
const PRIVATE_FILE = 0o600;
const PRIVATE_DIRECTORY = 0o700;

/**
 * Writes the stamp that tells the shell hook at which moments there is nothing for this persona, or removes it.
 *
 * `readFacts` runs while the database is locked for writing, and whoever adds an item calls `clearStamps` in the transaction that
 * adds it. So either the stamp exists before that transaction, which removes it, or `readFacts` saw the item. A change outside
 * the database (of the gates) is newer than the stamp, which has the time before the read.
 *
 * @throws what `readFacts` throws, Fault `unwritable` or `no-space`; there is no stamp then.
 */
export function stampPending(
  place: StampPlace,
  db: Database,
  persona: PersonaId,
  readFacts: () => StampFacts,
): StampResult {
  const path = join(place.run, 'pending', toStem(persona));
  if (db.isTransaction || !tryLock(db)) return 'busy';
  try {
    const before = place.clock.now() - BACK_MS;
    const facts = readFacts();
    const text = formatStamp({ persona, ...facts });
    if (text === null) return removeStamp(path) ? 'removed' : 'unchanged';
    if (isUpToDate(path, text, facts.gates)) return 'unchanged';
    write(place, path, text, before);
    return 'written';
  } catch (error) {
    removeStamp(path);
    throw error instanceof Fault ? error : toIoFault(error, path, 'unwritable');
  } finally {
    if (db.isTransaction) db.exec('ROLLBACK'); // nothing was written to it
  }
}

/** Returns true when only this connection may write now. It does not wait, because a hook has no time. */
function tryLock(db: Database): boolean {
  const { timeout } = db.prepare<{ timeout: number }>('PRAGMA busy_timeout').get() ?? { timeout: 5000 };
  db.exec('PRAGMA busy_timeout = 0');
  try {
    db.exec('BEGIN IMMEDIATE');
    return true;
  } catch {
    return false; // busy: the writer has removed its stamp, or a later call will write one
  } finally {
    db.exec(`PRAGMA busy_timeout = ${timeout}`);
  }
}

/** Returns whether the existing stamp has the same text and nothing has changed since. */
function isUpToDate(path: string, text: string, gates: string): boolean {
  try {
    if (readText(realFiles, path) !== text) return false;
    const { mtimeMs } = fs.statSync(path);
    const changed = fs.statSync(gates, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    return Math.floor(changed / 1000) < Math.floor(mtimeMs / 1000); // in whole seconds, as some shells compare them
  } catch {
    return false; // there is none, or it cannot be read: written again
  }
}

/** There is no fsync: if a power cut removes the stamp, the hook starts the program. */
function write({ random }: StampPlace, path: string, text: string, before: number): void {
  const temp = `${path}${STAMP_IN_MAKING}${random.hex(6)}`;
  const fd = openNew(temp);
  try {
    try {
      fs.writeFileSync(fd, text);
      fs.futimesSync(fd, before / 1000, before / 1000);
    } finally {
      fs.closeSync(fd);
    }
    realFiles.rename(temp, path);
  } catch (error) {
    removeStamp(temp);
    throw error;
  }
}

function openNew(temp: string): number {
  try {
    return fs.openSync(temp, 'wx', PRIVATE_FILE);
  } catch (error) {
    if (getErrno(error) !== 'ENOENT') throw error;
    realFiles.mkdirAll(dirname(temp), PRIVATE_DIRECTORY);
    return fs.openSync(temp, 'wx', PRIVATE_FILE);
  }
}

const STEPS = ['CREATE TABLE wakes (persona TEXT PRIMARY KEY, url TEXT NOT NULL) STRICT, WITHOUT ROWID'] as const;
const ANSWERS_WITHIN_MS = 3000;
const MOST_CHARS = 2000;

/** Stores the addresses at which an agent's own runner can be asked to wake it. */
export interface WakeStore {
  /** Null removes the address. @throws Fault `usage` for an address that is not on this machine */
  set(persona: PersonaId, url: string | null): void;
  find(persona: PersonaId): string | null;
}

/** @throws Fault `database`; so does each of its methods. */
export function openWakeStore(db: Database): WakeStore {
  migrate(db, 'wakes', STEPS);
  const put = db.prepare('INSERT INTO wakes VALUES (?, ?) ON CONFLICT (persona) DO UPDATE SET url = excluded.url');
  const drop = db.prepare('DELETE FROM wakes WHERE persona = ?');
  const select = db.prepare<{ url: string }>('SELECT url FROM wakes WHERE persona = ?');
  return {
    set(persona, url) {
      if (url === null) drop.run(persona);
      else put.run(persona, checkWakeUrl(url));
    },
    find: (persona) => select.get(persona)?.url ?? null,
  };
}

/** Returns the address in the form that is requested: plain http to a numeric address of this machine. @throws Fault `usage` */
export function checkWakeUrl(text: string): string {
  const refused = (why: string): Fault =>
    new Fault('usage', `--wake ${JSON.stringify(text.slice(0, 80))} ${why}`, { is: 'machine', key: 'wake' });
  if (text.length > MOST_CHARS || !URL.canParse(text)) throw refused('is not a URL');
  const url = new URL(text);
  if (url.hostname === 'localhost') url.hostname = '127.0.0.1';
  const isLocal = /^127\.\d+\.\d+\.\d+$/.test(url.hostname) || url.hostname === '[::1]';
  if (url.protocol !== 'http:' || !isLocal || url.username !== '' || url.password !== '')
    throw refused('must be http://127.0.0.1:PORT/PATH: an agent is woken on this machine only');
  url.hash = '';
  return url.href;
}

/**
 * Sends `POST {"message"}` (inbox and gates, contract 7). A redirect counts as an answer and is not followed.
 * @throws Fault `exec-failed` when it was not delivered
 */
export function postNudge(wake: string, message: string): Promise<void> {
  const body = JSON.stringify({ message });
  const failed = (why: string): Fault => new Fault('exec-failed', `${wake}: ${why}`, { is: 'machine', key: 'wake' });
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const wakeRequest = request(checkWakeUrl(wake), {
      method: 'POST',
      headers,
      agent: false,
      timeout: ANSWERS_WITHIN_MS,
    });
    wakeRequest.on('timeout', () => wakeRequest.destroy(failed('timed out')));
    wakeRequest.on('error', (error) => reject(error instanceof Fault ? error : failed(error.message)));
    wakeRequest.on('response', (response) => {
      let answer = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        answer = (answer + text).slice(0, MOST_CHARS);
      });
      response.on('error', (error) => reject(failed(error.message)));
      response.on('end', () => {
        const { statusCode: code = 0 } = response;
        if (code >= 200 && code < 300 && !/"delivered"\s*:\s*false/.test(answer)) resolve();
        else reject(failed(`answered ${code} ${answer.slice(0, 200).replace(/\s+/g, ' ')}`));
      });
    });
    wakeRequest.end(body);
  });
}

/**
 * A file in `<run>`. A hook that changed the local hive writes it, so that the tray process reads the hive again. Its content has
 * no meaning.
 */
const FILE = 'changed';
/** Changes of several hooks within this time are handled together. */
const GATHER_MS = 20;

/** Notes a change. Never throws: without a tray process nobody needs the note, and a running one polls anyway after a while. */
export function noteChanged(run: string): void {
  try {
    fs.writeFileSync(join(run, FILE), '.', { mode: 0o600 });
  } catch {
    // The change itself is stored all the same.
  }
}

/**
 * Calls `heard` soon after a hook noted a change. Where the file cannot be watched, it calls `failed` once with the reason, and
 * never `heard`.
 */
export function watchChanged(
  run: string,
  { clock, heard, failed }: { clock: Pick<Clock, 'after'>; heard: () => void; failed: (why: string) => void },
): Disposable {
  let soon: Disposable | null = null;
  const watcher = open();

  function open(): fs.FSWatcher | null {
    try {
      const opened = fs.watch(run, { persistent: false }, (_, name) => {
        if (name !== null && name !== FILE) return;
        soon ??= clock.after(GATHER_MS, () => {
          soon = null;
          heard();
        });
      });
      return opened.on('error', (error) => failed(error.message));
    } catch (error) {
      failed(getErrno(error) ?? String(error));
      return null;
    }
  }

  return {
    [Symbol.dispose]() {
      watcher?.close();
      soon?.[Symbol.dispose]();
    },
  };
}

/** Where the mail of a persona is. */
export interface InboxLocation {
  /** Its name in the local hive. Items are pushed to it there, whatever system its mail is in. */
  readonly name: string;
  /** Whether its mail is in another system, and arrives through its event file. */
  readonly isFollowed: boolean;
}

/** The prefix of personas of the local hive where another hive is the primary. No name of a hive has this prefix on the board. */
export const LOCAL = LOCAL_PREFIX;

/**
 * Finds the inbox by the settings. They are only read here and not checked, because a hook has no time for that.
 * @param config the directory of the settings
 */
export function locateInbox(persona: string, config: string): InboxLocation {
  const { primary, hives } = readHiveSettings(join(config, 'config.json'));
  if (persona.startsWith(LOCAL) && persona !== LOCAL) return { name: persona.slice(LOCAL.length), isFollowed: false };
  const isForeign = [...SOURCE_IDS, ...hives.map((name) => `${name}-`)].some((ids) => isOwnId(ids, persona));
  return { name: persona, isFollowed: primary !== 'local' || isForeign };
}

/** Returns whether a waiter may wake an idle agent, as the setting `nudge` says. @param config the directory of the settings */
export function isWaiterAllowed(config: string): boolean {
  try {
    const { nudge } = JSON.parse(readText(realFiles, join(config, 'config.json')) ?? '{}') as {
      readonly nudge?: { readonly waiter?: unknown };
    };
    return nudge?.waiter !== false;
  } catch {
    return true; // no settings yet, or none that can be read
  }
}

function readHiveSettings(path: string): { readonly primary: 'local' | 'other'; readonly hives: readonly string[] } {
  try {
    const { primary, hives, sources } = JSON.parse(readText(realFiles, path) ?? '{}') as {
      readonly primary?: { readonly is?: unknown };
      readonly hives?: readonly { readonly name?: unknown }[];
      readonly sources?: readonly { readonly name?: unknown }[];
    };
    const names = [hives, sources].flatMap((list) =>
      Array.isArray(list) ? list.flatMap(({ name }) => (typeof name === 'string' ? name : [])) : [],
    );
    return { primary: primary === undefined || primary.is === 'local' ? 'local' : 'other', hives: names };
  } catch {
    return { primary: 'local', hives: [] }; // no settings yet: there is only the local hive
  }
}
