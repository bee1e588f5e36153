import * as fs from 'node:fs';
import { join } from 'node:path';
import {
  advanceSessionReport,
  endPermissionWait,
  formatSessionReport,
  type HookTurn,
  parseSessionReport,
  type SessionFacts,
  type SessionReport,
} from '../../core/hooks/index.ts';
import type { Instant } from '../../core/model/index.ts';
import { type Clock, O, realFiles } from '../../core/ports/index.ts';
import { getErrno, readText, toStem } from '../../core/state/index.ts';
import { getActivityDir } from './prompts.node.ts';

/** The directory in which hooks store what the session does that runs them, one file per session: `<run>/agents/<stem>.json`. */
export const getReportsDir = (run: string): string => join(run, 'agents');

const ENDING = '.json';
const TEMP = '.tmp';
/** Twice the longest paths and names that a report holds. */
const MOST_BYTES = 32 * 1024;
/** Reports of ended sessions stay until there are more files than this, or until the tray process removes them. */
const MOST_FILES = 500;

/**
 * Stores what a call of a hook says of its session. Nothing is written when it says nothing new, as at most tool calls. Never throws:
 * an agent goes on whether somebody watches it or not.
 */
export function reportSession(run: string, turn: HookTurn, facts: SessionFacts, now: Instant): void {
  if (turn.session === null) return;
  const dir = getReportsDir(run);
  const name = `${toStem(turn.session)}${ENDING}`;
  try {
    const before = readReport(join(dir, name));
    const report = advanceSessionReport(before, turn, facts, now);
    if (report === null || report === before) return;
    try {
      replace(dir, name, formatSessionReport(report));
    } catch (error) {
      if (getErrno(error) !== 'ENOENT') throw error;
      realFiles.mkdirAll(dir, 0o700);
      replace(dir, name, formatSessionReport(report));
    }
    if (before === null && turn.event === 'SessionStart') removeOldest(dir);
  } catch {
    // The disk is full, or the directory is not ours: a later reader finds the report before, and the process still counts.
  }
}

/** Stores that the permission prompt of this call was answered in Hivebar, so that its agent does not wait any more. Never throws. */
export function reportAnswered(run: string, turn: HookTurn, now: Instant): void {
  if (turn.session === null) return;
  const dir = getReportsDir(run);
  const name = `${toStem(turn.session)}${ENDING}`;
  const before = readReport(join(dir, name));
  const report = before === null ? null : endPermissionWait(before, turn, now);
  if (report === null || report === before) return;
  try {
    replace(dir, name, formatSessionReport(report));
  } catch {
    // As in `reportSession`: the end of the tool says it as well.
  }
}

/** Returns whether the report of the session still says that its agent waits for the answer to this prompt. */
export function isPromptOpen(run: string, { session, agent, tool }: HookTurn): boolean {
  if (session === null) return false;
  const report = readReport(join(getReportsDir(run), `${toStem(session)}${ENDING}`));
  return report?.waits.some((wait) => wait.agent === agent && wait.tool === (tool?.name ?? null)) ?? false;
}

/** How the session asked for permissions when a hook of it ran last, in its own word; null: not known. */
export function readPermissionMode(run: string, session: string): string | null {
  return readReport(join(getReportsDir(run), `${toStem(session)}${ENDING}`))?.permissionMode ?? null;
}

/** Readers see the old report or the new. It need not survive a power cut, because no session does. */
function replace(dir: string, name: string, text: string): void {
  const temp = join(dir, `${name}.${process.pid}${TEMP}`);
  const fd = realFiles.open(temp, O.WRONLY | O.CREAT | O.TRUNC | O.NOFOLLOW, 0o600);
  try {
    realFiles.write(fd, Buffer.from(text));
  } finally {
    realFiles.close(fd);
  }
  realFiles.rename(temp, join(dir, name));
}

/** Reads the report at this path; null when there is none, or it cannot be read. */
function readReport(path: string): SessionReport | null {
  try {
    return parseSessionReport(readText(realFiles, path, MOST_BYTES) ?? '');
  } catch {
    return null; // the next report replaces it
  }
}

/** Limits the files where no tray process ever removes one. */
function removeOldest(dir: string): void {
  const names = fs.readdirSync(dir);
  if (names.length <= MOST_FILES) return;
  const aged = names.map((name) => ({ name, at: fs.lstatSync(join(dir, name)).mtimeMs }));
  for (const { name } of aged.toSorted((a, b) => a.at - b.at).slice(0, names.length - MOST_FILES))
    fs.rmSync(join(dir, name), { force: true });
}

/** The reports that hooks stored, by file name, for a process that reads them again and again. */
export interface SessionReports {
  /** Reads what changed of these files; null: of all. Returns the reports that are new or changed. */
  refresh(names: ReadonlySet<string> | null): readonly SessionReport[];
  list(): readonly SessionReport[];
  /** Removes the file of a session that ended. */
  remove(report: SessionReport): void;
}

export function openSessionReports(run: string): SessionReports {
  const dir = getReportsDir(run);
  const known = new Map<string, { readonly key: string; readonly report: SessionReport | null }>();
  return {
    refresh(names) {
      const changed: SessionReport[] = [];
      for (const name of names ?? new Set([...listNames(dir), ...known.keys()])) {
        if (!name.endsWith(ENDING)) continue;
        const key = readKey(join(dir, name));
        if (known.get(name)?.key === (key ?? undefined)) continue;
        const report = key === null ? null : readReport(join(dir, name));
        if (key === null) known.delete(name);
        else known.set(name, { key, report });
        if (report !== null) changed.push(report);
      }
      return changed;
    },
    list: () => [...known.values()].flatMap(({ report }) => report ?? []),
    remove({ session }) {
      const name = `${toStem(session)}${ENDING}`;
      known.delete(name);
      fs.rmSync(join(dir, name), { force: true });
    },
  };
}

function listNames(dir: string): readonly string[] {
  try {
    return fs.readdirSync(dir);
  } catch {
    return []; // no hook ran yet, or the directory cannot be read
  }
}

/** Every report is a new file, so its inode and time tell it from the one before. Null: it is gone. */
function readKey(path: string): string | null {
  const stat = fs.lstatSync(path, { throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.ino}:${stat.mtimeMs}:${stat.size}`;
}

/** What comes together leads to one look. A question is shown soon; that an agent works is noted at each of its tool calls. */
const REPORTED_MS = 20;
const NOTED_MS = 200;

interface ReportListeners {
  readonly clock: Pick<Clock, 'after'>;
  /** Called with the names of report files that may have changed. */
  readonly reported: (names: ReadonlySet<string>) => void;
  /** Called with the stems of personas for which a moment was noted. */
  readonly noted: (stems: ReadonlySet<string>) => void;
  readonly failed: (why: string) => void;
}

/** Watches the reports, and the moments that scripts note without starting the program. Creates both directories. */
export function watchSessionReports(run: string, { clock, reported, noted, failed }: ReportListeners): Disposable {
  const watches = [
    watchNames(getReportsDir(run), { clock, ms: REPORTED_MS, heard: reported, failed }),
    watchNames(getActivityDir(run), { clock, ms: NOTED_MS, heard: noted, failed }),
  ];
  return {
    [Symbol.dispose]() {
      for (const watched of watches) watched[Symbol.dispose]();
    },
  };
}

interface NamesOptions {
  readonly clock: Pick<Clock, 'after'>;
  readonly ms: number;
  readonly heard: (names: ReadonlySet<string>) => void;
  readonly failed: (why: string) => void;
}

function watchNames(dir: string, { clock, ms, heard, failed }: NamesOptions): Disposable {
  const names = new Set<string>();
  let soon: Disposable | null = null;
  let watcher: fs.FSWatcher | null = null;
  const hear = (): void => {
    soon = null;
    const all = new Set(names);
    names.clear();
    heard(all);
  };
  try {
    realFiles.mkdirAll(dir, 0o700);
    watcher = fs.watch(dir, { persistent: false }, (_, name) => {
      if (name === null) return;
      names.add(name);
      soon ??= clock.after(ms, hear);
    });
    watcher.on('error', (error) => failed(error.message));
  } catch (error) {
    failed(getErrno(error) ?? String(error));
  }
  return {
    [Symbol.dispose]() {
      watcher?.close();
      soon?.[Symbol.dispose]();
    },
  };
}
