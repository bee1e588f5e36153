import { join } from 'node:path';
import { Fault, parseJson } from '../../model/index.ts';
import { createTroubleLog } from '../../services/index.ts';
import { ensurePrivateDir, readPrivate, sweepTemps, writeAtomically } from '../../state/index.ts';
import type { SourceHost } from '../module.ts';
import { createTimers } from '../source-tools.ts';
import { AMAIL } from './settings.ts';
import type { AmailMemory, SavedAgent, SavedAmail } from './source.ts';

const MOST_BYTES = 4 * 1024 * 1024;
/** A new agent is saved after this time, and how far the mail was seen after the other. */
const WRITE_SOON_MS = 1000;
const WRITE_LATER_MS = 60_000;

/**
 * Opens the file `amail/server.json` of the state directory. It is derived state: losing it can give an agent another id, and has
 * a gap reported that is none.
 */
export function openAmailMemory(
  state: string,
  machine: Pick<SourceHost, 'disk' | 'random' | 'clock' | 'log'>,
): AmailMemory & Disposable {
  const { disk, random, clock, log } = machine;
  const directory = join(state, AMAIL);
  const path = join(directory, 'server.json');
  const trouble = createTroubleLog(log);
  const timers = createTimers(clock);
  let unsaved: SavedAmail | null = null;
  let agentCount = 0;

  function write(): void {
    if (unsaved === null) return;
    const text = `${JSON.stringify(unsaved)}\n`;
    unsaved = null;
    try {
      ensurePrivateDir(disk, directory);
      writeAtomically(disk, random, path, text);
      trouble.clear('what is known of the mail server is saved again');
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      trouble.raise(`what is known of the mail server is not saved: ${error.explain()}`);
    }
  }

  return {
    load() {
      sweepTemps(disk, path); // left by a process that was killed while it wrote
      const saved = read();
      agentCount = saved?.agents.length ?? 0;
      return saved;
    },
    save(saved) {
      unsaved = saved;
      const isNew = saved.agents.length !== agentCount;
      agentCount = saved.agents.length;
      timers.schedule(isNew ? WRITE_SOON_MS : WRITE_LATER_MS, 'write', write);
    },
    [Symbol.dispose]() {
      timers[Symbol.dispose]();
      write();
    },
  };

  function read(): SavedAmail | null {
    try {
      const bytes = readPrivate(disk, path, MOST_BYTES);
      return bytes === null ? null : parseSaved(parseJson(new TextDecoder().decode(bytes)));
    } catch (error) {
      if (error instanceof SyntaxError) return null; // half a file that another program wrote: the same as none
      if (!(error instanceof Fault)) throw error;
      log.warn(`the mail server is watched as if it were new: ${error.explain()}`);
      return null;
    }
  }
}

/** Null for anything that this version did not write. */
export function parseSaved(value: unknown): SavedAmail | null {
  if (!isRecord(value) || typeof value.base !== 'string' || !isRecord(value.ledger) || !Array.isArray(value.agents))
    return null;
  const { highest, coveredFrom, newest, before } = value.ledger;
  const former = isRecord(before) && isId(before.highest) && isTime(before.newest) ? before : null;
  if (!isId(highest) || !isId(coveredFrom ?? 0) || !isTime(newest ?? 0)) return null;
  return {
    base: value.base,
    ledger: {
      highest,
      // JSON has no infinity: nothing was seen yet.
      coveredFrom: isId(coveredFrom) ? coveredFrom : Number.POSITIVE_INFINITY,
      newest: isTime(newest) ? newest : Number.NEGATIVE_INFINITY,
      before: former === null ? null : { highest: Number(former.highest), newest: Number(former.newest) },
    },
    agents: value.agents.filter(isAgent),
  };
}

function isAgent(value: unknown): value is SavedAgent {
  if (!isRecord(value)) return false;
  return typeof value.address === 'string' && typeof value.id === 'string' && isId(value.bornAfter);
}

const isId = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
