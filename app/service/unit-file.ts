import { posix } from 'node:path';
import { Fault } from '../../core/model/index.ts';
import { type Ended, findProgramWith, inSystem32, O, type Random, type Spawn } from '../../core/ports/index.ts';
import { type Disk, errnoOf, ioFault, writeAtomically } from '../../core/state/index.ts';
import { ANY_MARK, markOf, type Program } from './program.ts';
import { bytesOf, textOf } from './xml.ts';

/** What a service needs of the machine. */
export interface UnitNeeds {
  readonly os: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly disk: Disk;
  readonly random: Random;
  readonly spawn: Spawn;
  readonly program: Program;
}

/** One file that starts us, and who has to be told of it. */
export interface Unit {
  readonly path: string;
  /** @throws Fault when it can not be written for this program */
  text(): Promise<string>;
  /** Tells whom it concerns; of one that is new it leaves nothing behind when it fails. @throws Fault `exec-failed` */
  written(isNew: boolean): Promise<void>;
  removed(): Promise<void>;
}

/** What is there under the unit's name: nothing, ours, or something that this Hivebar did not write. */
export type Present =
  | { readonly is: 'absent' }
  | { readonly is: 'ours'; readonly text: string }
  | { readonly is: 'foreign'; readonly why: string };

const LOGIN = { is: 'machine', key: 'login' } as const;
const COMMAND_MS = 10_000;
const MOST_BYTES = 64 * 1024;

/** Writes the unit, anew when it is there. @throws Fault `unwritable`, also for a foreign file; `exec-failed` */
export async function putUnit(needs: UnitNeeds, unit: Unit): Promise<void> {
  const file = readUnit(needs, unit.path);
  if (file.is === 'foreign') throw foreign(unit.path, file.why);
  const isNew = file.is === 'absent';
  writeAtomically(needs.disk, needs.random, unit.path, bytesOf(await unit.text()));
  try {
    await unit.written(isNew);
  } catch (error) {
    if (isNew) unlink(needs.disk, unit.path); // half of it would look like all of it
    throw error;
  }
}

/** Nothing when it is not there; what could not be taken away keeps its file. @throws Fault as `putUnit` */
export async function removeUnit(needs: UnitNeeds, unit: Unit): Promise<void> {
  const file = readUnit(needs, unit.path);
  if (file.is === 'absent') return;
  if (file.is === 'foreign') throw foreign(unit.path, file.why);
  unlink(needs.disk, unit.path);
  try {
    await unit.removed();
  } catch (error) {
    writeAtomically(needs.disk, needs.random, unit.path, bytesOf(file.text)); // without it we would not know that the rest is ours
    throw error;
  }
}

/** The base directory specification: a relative value is to be ignored. */
export function configOf({ env, home }: Pick<UnitNeeds, 'env' | 'home'>): string {
  const given = env.XDG_CONFIG_HOME;
  return given?.startsWith('/') ? given : posix.join(home, '.config');
}

/** @throws Fault `unreadable` */
export function readUnit({ disk: { files }, program }: Pick<UnitNeeds, 'disk' | 'program'>, path: string): Present {
  try {
    const stat = files.lstat(path);
    if (stat === null) return { is: 'absent' };
    if (stat.kind !== 'file') return { is: 'foreign', why: `is no plain file but a ${stat.kind}` };
    const fd = files.open(path, O.RDONLY | O.NOFOLLOW | O.NONBLOCK, 0);
    try {
      const bytes = new Uint8Array(Math.min(stat.size, MOST_BYTES));
      const text = textOf(bytes.subarray(0, files.read(fd, bytes, 0)));
      if (text.includes(markOf(program))) return { is: 'ours', text };
      const other = text.includes(ANY_MARK)
        ? 'starts the Hivebar of another HIVEBAR_HOME'
        : 'was not written by Hivebar';
      return { is: 'foreign', why: other };
    } finally {
      files.close(fd);
    }
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return { is: 'absent' };
    throw ioFault(error, path, 'unreadable');
  }
}

export function unlink({ files }: Disk, path: string): void {
  try {
    files.unlink(path);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw ioFault(error, path, 'unwritable');
  }
}

function foreign(path: string, why: string): Fault {
  return new Fault('unwritable', `${path} ${why}, and is left as it is`, LOGIN);
}

/** Runs a program of PATH. @throws Fault `exec-failed` */
export async function run(needs: UnitNeeds, command: readonly string[]): Promise<void> {
  const ended = await end(needs, command);
  if (ended.is === 'exited' && ended.code === 0) return;
  const why = ended.is === 'exited' ? `ended with ${ended.code}: ${ended.stderr.trim()}` : ended.is;
  throw new Fault('exec-failed', `${command.join(' ')}: ${why}`, LOGIN);
}

/** Runs a program of PATH to its end; one that stands in the current folder is never taken. */
export async function end(
  { disk, env, os, spawn }: UnitNeeds,
  [name = '', ...args]: readonly string[],
): Promise<Ended> {
  const isThere = (file: string): boolean => disk.files.lstat(file) !== null;
  // What Windows brings is taken from where Windows keeps it, whatever PATH says.
  const system = os === 'win32' ? inSystem32(name, env) : null;
  const file = system === null ? findProgramWith(isThere, name, env, os) : isThere(system) ? system : null;
  if (file === null) return { is: 'not-started', why: `no ${name} on PATH` } as const;
  const given = Object.fromEntries(
    Object.entries(env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
  return await spawn.run({ file, args, env: given, timeoutMs: COMMAND_MS }, new AbortController().signal);
}
