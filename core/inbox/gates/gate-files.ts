import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { PersonaId } from '../../model/index.ts';
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
import { explainInvalidId, type Gate, type GateState } from './gate.ts';
import { formatGate, type GateParseResult, MOST_FILE_BYTES, parseGate } from './gate-text.ts';

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
export interface GateFiles {
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
