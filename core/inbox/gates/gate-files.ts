import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { PersonaId } from '../../model/index.ts';
import type { Clock, Random } from '../../ports/index.ts';
import {
  type Disk,
  errnoOf,
  ioFault,
  isTemp,
  readPrivate,
  stemOf,
  sweepOldTemps,
  writeAtomically,
} from '../../state/index.ts';
import { BUILT_INS } from './built-ins.ts';
import { type Gate, type Standing, whyNoId } from './gate.ts';
import { type GateRead, gateOfText, MOST_FILE_BYTES, textOfGate } from './gate-text.ts';

export interface Odd {
  readonly path: string;
  readonly why: string;
}

export interface AllGates {
  /** Built-ins first, then by id. */
  readonly standings: readonly Standing[];
  /** Files that are no gate's. Also a built-in gate of that id is not there then. */
  readonly odd: readonly Odd[];
}

/** The gates of each persona in `<state>/gates/<stem>/ID.json`: 0600 in 0700, replaced as a whole. */
export interface GateFiles {
  /** The directory of a persona. */
  at(persona: PersonaId): string;
  /** @throws Fault `unreadable` when the directory can not be looked into */
  read(persona: PersonaId): AllGates;
  /** Null: there is no such gate, or its file is odd. */
  one(persona: PersonaId, id: string): Standing | null;
  /** Whether it has a file, whatever stands in it. */
  has(persona: PersonaId, id: string): boolean;
  /** False: there is no such file. @throws Fault `unwritable` */
  remove(persona: PersonaId, id: string): boolean;
  /** Durable when it returns. @throws Fault `unwritable` or `no-space`; the old file is intact then */
  write(persona: PersonaId, standing: Standing): void;
}

const ENDING = '.json';
/** More files than anybody registers: the rest is not looked at, and that is said. */
const MOST_GATES = 500;

export function gateFiles(disk: Disk, random: Random, state: string, clock: Pick<Clock, 'now'>): GateFiles {
  const at = (persona: PersonaId): string => join(state, 'gates', stemOf(persona));

  const pathOf = (persona: PersonaId, id: string): string => join(at(persona), `${id}${ENDING}`);

  function idsIn(directory: string): readonly string[] {
    try {
      const all = disk.files.readdir(directory);
      if (all.some(isTemp)) sweepOldTemps(directory, clock.now()); // no lock keeps them for a next start
      const names = all.filter((name) => name.endsWith(ENDING) && !name.startsWith('.'));
      return names.map((name) => name.slice(0, -ENDING.length)).sort();
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return [];
      throw ioFault(error, directory, 'unreadable');
    }
  }

  function readOne(directory: string, id: string): GateRead | null {
    const why = whyNoId(id);
    if (why !== null) return { is: 'odd', why: `its name ${why}` };
    try {
      const bytes = readPrivate(disk, join(directory, `${id}${ENDING}`), MOST_FILE_BYTES);
      return bytes === null ? null : gateOfText(id, bytes);
    } catch (error) {
      return { is: 'odd', why: error instanceof Error ? error.message : String(error) };
    }
  }

  return {
    at,
    read(persona) {
      const directory = at(persona);
      const odd: Odd[] = [];
      const kept = new Map<string, Standing | null>();
      const ids = idsIn(directory);
      for (const id of ids.slice(0, MOST_GATES)) {
        const read = readOne(directory, id);
        if (read?.is === 'odd') odd.push({ path: join(directory, `${id}${ENDING}`), why: read.why });
        if (read !== null) kept.set(id, read.is === 'gate' ? standingOf(read) : null);
      }
      if (ids.length > MOST_GATES) odd.push({ path: directory, why: `it holds over ${MOST_GATES} gates` });
      const builtIns = BUILT_INS.map((gate) => {
        const own = kept.get(gate.id);
        kept.delete(gate.id);
        return own === undefined ? { gate, mark: null, isBuiltIn: true } : own;
      });
      return { standings: [...builtIns, ...kept.values()].filter((one) => one !== null), odd };
    },
    one(persona, id) {
      const read = readOne(at(persona), id);
      if (read?.is === 'gate') return standingOf(read);
      const gate = builtIn(id);
      return read !== null || gate === undefined ? null : { gate, mark: null, isBuiltIn: true };
    },
    has: (persona, id) => disk.files.lstat(pathOf(persona, id)) !== null,
    remove(persona, id) {
      const path = pathOf(persona, id);
      try {
        disk.files.unlink(path);
        return true;
      } catch (error) {
        if (errnoOf(error) === 'ENOENT') return false;
        throw ioFault(error, path, 'unwritable');
      }
    },
    write(persona, standing) {
      writeAtomically(disk, random, pathOf(persona, standing.gate.id), textOfGate(standing));
    },
  };
}

function builtIn(id: string): Gate | undefined {
  return BUILT_INS.find((gate) => gate.id === id);
}

/** A file that is there for its mark alone leaves the gate as this program has it. */
function standingOf({ gate, mark, registered }: Extract<GateRead, { is: 'gate' }>): Standing {
  const own = builtIn(gate.id);
  const isOwn = own !== undefined && (registered === false || (registered === null && isDeepStrictEqual(gate, own)));
  return isOwn ? { gate: own, mark, isBuiltIn: true } : { gate, mark, isBuiltIn: false };
}
