import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { formatIso, type PersonaId, parseIso, parseJson } from '../../model/index.ts';
import type { Clock, Random } from '../../ports/index.ts';
import {
  type Disk,
  getErrno,
  isTemp,
  readPrivate,
  sweepOldTemps,
  toIoFault,
  toStem,
  writeAtomically,
} from '../../state/index.ts';
import { BUILT_INS } from './built-ins.ts';
import {
  CHECKS,
  explainInvalidId,
  explainInvalidMatcher,
  type Gate,
  type GateState,
  HOOKS,
  isTtl,
  MARK_PROVENANCES,
  MODES,
  MOST_NAME,
  MOST_TEXT,
} from './gate.ts';

export interface OddGateFile {
  readonly path: string;
  readonly why: string;
}

export interface AllGates {
  /** Built-ins first, then by id. */
  readonly gateStates: readonly GateState[];
  /** Files that are not valid gates. Such a file also hides the built-in gate of that id. */
  readonly odd: readonly OddGateFile[];
}

/** The gates of each persona in `<state>/gates/<stem>/ID.json`: files 0600 in directories 0700, always replaced as a whole. */
interface GateFiles {
  /** The directory of a persona. */
  at(persona: PersonaId): string;
  /** @throws Fault `unreadable` if the directory cannot be read */
  read(persona: PersonaId): AllGates;
  /** Null: there is no such gate, or its file is invalid. */
  find(persona: PersonaId, id: string): GateState | null;
  /** Whether the gate has a file, valid or not. */
  has(persona: PersonaId, id: string): boolean;
  /** Removes the file. False: there is no such file. @throws Fault `unwritable` */
  remove(persona: PersonaId, id: string): boolean;
  /** Writes the file durably. @throws Fault `unwritable` or `no-space`; the old file is intact then */
  write(persona: PersonaId, gateState: GateState): void;
}

const ENDING = '.json';
/** More files than anybody registers. The rest is ignored, and that is reported. */
const MOST_GATES = 500;

export function openGateFiles(disk: Disk, random: Random, state: string, clock: Pick<Clock, 'now'>): GateFiles {
  const at = (persona: PersonaId): string => join(state, 'gates', toStem(persona));

  const toPath = (persona: PersonaId, id: string): string => join(at(persona), `${id}${ENDING}`);

  function readIds(directory: string): readonly string[] {
    try {
      const fileNames = disk.files.readdir(directory);
      if (fileNames.some(isTemp)) sweepOldTemps(directory, clock.now()); // written without a lock: only old ones go
      const names = fileNames.filter((name) => name.endsWith(ENDING) && !name.startsWith('.'));
      return names.map((name) => name.slice(0, -ENDING.length)).sort();
    } catch (error) {
      if (getErrno(error) === 'ENOENT') return [];
      throw toIoFault(error, directory, 'unreadable');
    }
  }

  function readOne(directory: string, id: string): GateParseResult | null {
    const why = explainInvalidId(id);
    if (why !== null) return { is: 'odd', why: `its name ${why}` };
    try {
      const bytes = readPrivate(disk, join(directory, `${id}${ENDING}`), MOST_FILE_BYTES);
      return bytes === null ? null : parseGate(id, bytes);
    } catch (error) {
      return { is: 'odd', why: error instanceof Error ? error.message : String(error) };
    }
  }

  return {
    at,
    read(persona) {
      const directory = at(persona);
      const odd: OddGateFile[] = [];
      const stored = new Map<string, GateState | null>();
      const ids = readIds(directory);
      for (const id of ids.slice(0, MOST_GATES)) {
        const read = readOne(directory, id);
        if (read?.is === 'odd') odd.push({ path: join(directory, `${id}${ENDING}`), why: read.why });
        if (read !== null) stored.set(id, read.is === 'gate' ? toGateState(read) : null);
      }
      if (ids.length > MOST_GATES) odd.push({ path: directory, why: `it holds over ${MOST_GATES} gates` });
      const builtIns = BUILT_INS.map((gate) => {
        const own = stored.get(gate.id);
        stored.delete(gate.id);
        return own === undefined ? { gate, mark: null, isBuiltIn: true } : own;
      });
      return { gateStates: [...builtIns, ...stored.values()].filter((gateState) => gateState !== null), odd };
    },
    find(persona, id) {
      const read = readOne(at(persona), id);
      if (read?.is === 'gate') return toGateState(read);
      const gate = findBuiltIn(id);
      return read !== null || gate === undefined ? null : { gate, mark: null, isBuiltIn: true };
    },
    has: (persona, id) => disk.files.lstat(toPath(persona, id)) !== null,
    remove(persona, id) {
      const path = toPath(persona, id);
      try {
        disk.files.unlink(path);
        return true;
      } catch (error) {
        if (getErrno(error) === 'ENOENT') return false;
        throw toIoFault(error, path, 'unwritable');
      }
    },
    write(persona, gateState) {
      writeAtomically(disk, random, toPath(persona, gateState.gate.id), formatGate(gateState));
    },
  };
}

function findBuiltIn(id: string): Gate | undefined {
  return BUILT_INS.find((gate) => gate.id === id);
}

/** A file that exists only for its mark leaves the built-in gate unchanged. */
function toGateState({ gate, mark, registered }: Extract<GateParseResult, { is: 'gate' }>): GateState {
  const own = findBuiltIn(gate.id);
  const isOwn = own !== undefined && (registered === false || (registered === null && isDeepStrictEqual(gate, own)));
  return isOwn ? { gate: own, mark, isBuiltIn: true } : { gate, mark, isBuiltIn: false };
}

/** A gate's file is far smaller. */
export const MOST_FILE_BYTES = 16_384;

type GateParseResult =
  /** `registered` null: the file does not say. */
  | ({ readonly is: 'gate'; readonly registered: boolean | null } & Omit<GateState, 'isBuiltIn'>)
  /** Not a valid gate's file; it blocks nothing. */
  | { readonly is: 'odd'; readonly why: string };

/** Formats the content of `ID.json` (contract 4, "ours"). */
export function formatGate({ gate, mark, isBuiltIn }: GateState): string {
  const { hook, mode, description, hint, check, matcher, ttlSeconds } = gate;
  const file = {
    registered: !isBuiltIn,
    hook,
    mode,
    description,
    hint,
    check,
    ...(matcher === null ? {} : { tool: matcher.tool, command: matcher.command }),
    satisfied_by: mark?.by ?? null,
    at: mark === null ? null : formatIso(mark.at),
    ttl: ttlSeconds,
    session: mark?.session ?? null,
    terminal: mark?.terminal ?? null,
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}

/**
 * Parses the file of a gate strictly: a key of the wrong type makes it odd, a missing key is null, and an unknown key is ignored.
 * An unknown provenance means no mark: the gate exists and is open (contract 6).
 */
export function parseGate(id: string, bytes: Uint8Array): GateParseResult {
  if (bytes.length > MOST_FILE_BYTES) return toOdd(`it is over ${MOST_FILE_BYTES} bytes long`);
  let value: unknown;
  try {
    value = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    return toOdd(error instanceof Error ? error.message : String(error));
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    return toOdd('it does not hold a JSON object');
  const { registered, hook, mode, description, hint, check, tool, command, ttl, ...marked } = value as Readonly<
    Record<string, unknown>
  >;
  const hookRead = hook === null ? null : findKnown(HOOKS, hook);
  const modeRead = findKnown(MODES, mode);
  const checkRead = isNone(check) ? null : findKnown(CHECKS, check);
  if (!isNone(registered) && typeof registered !== 'boolean') return toOddKey('registered', registered);
  if (hookRead === undefined) return toOddKey('hook', hook);
  if (modeRead === undefined) return toOddKey('mode', mode);
  if (!isText(description, MOST_TEXT) || description.trim() === '') return toOddKey('description', description);
  if (!isNone(hint) && !isText(hint, MOST_TEXT)) return toOddKey('hint', hint);
  if (checkRead === undefined) return toOddKey('check', check);
  if (!isNone(ttl) && !(typeof ttl === 'number' && isTtl(ttl))) return toOddKey('ttl', ttl);
  const matcher = parseMatcher(tool, command);
  if (matcher?.is === 'odd') return matcher;
  const mark = parseMark(marked);
  if (mark.is === 'odd') return mark;
  const gate = { id, hook: hookRead, mode: modeRead, description, hint: hint ?? null, check: checkRead };
  const whole = { ...gate, matcher: matcher?.matcher ?? null, ttlSeconds: ttl ?? null };
  return { is: 'gate', registered: registered ?? null, gate: whole, mark: mark.mark };
}

function parseMark({ satisfied_by: by, at, session, terminal }: Readonly<Record<string, unknown>>) {
  if (isNone(by)) return { is: 'mark', mark: null } as const;
  if (typeof by !== 'string') return toOddKey('satisfied_by', by);
  const moment = typeof at === 'string' ? parseIso(at) : null;
  if (moment === null || Number.isNaN(moment)) return toOddKey('at', at);
  if (!isNone(session) && !isText(session, MOST_NAME)) return toOddKey('session', session);
  if (!isNone(terminal) && !isText(terminal, MOST_NAME)) return toOddKey('terminal', terminal);
  const known = findKnown(MARK_PROVENANCES, by);
  if (known === undefined) return { is: 'mark', mark: null } as const;
  return { is: 'mark', mark: { by: known, at: moment, session: session ?? null, terminal: terminal ?? null } } as const;
}

function parseMatcher(tool: unknown, command: unknown) {
  if (isNone(tool) && isNone(command)) return null;
  if (!isNone(tool) && typeof tool !== 'string') return toOddKey('tool', tool);
  if (!isNone(command) && typeof command !== 'string') return toOddKey('command', command);
  const matcher = { tool: tool ?? null, command: command ?? null };
  const why = explainInvalidMatcher(matcher);
  return why === null ? ({ is: 'matcher', matcher } as const) : toOdd(why);
}

function findKnown<T extends string>(knownValues: readonly T[], value: unknown): T | undefined {
  return knownValues.find((known) => known === value);
}

function isNone(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

function isText(value: unknown, most: number): value is string {
  return typeof value === 'string' && value !== '' && value.length <= most;
}

function toOdd(why: string): { readonly is: 'odd'; readonly why: string } {
  return { is: 'odd', why };
}

function toOddKey(key: string, value: unknown): { readonly is: 'odd'; readonly why: string } {
  return toOdd(`${key} is ${value === undefined ? 'missing' : JSON.stringify(value).slice(0, 80)}`);
}
