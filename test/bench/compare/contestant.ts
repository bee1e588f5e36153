import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { fileText, measureCost, readMemory } from '../rig.ts';

/** A program that is measured beside others at the same work. */
export interface Contestant {
  readonly name: string;
  /** All of its processes. */
  readonly pids: () => readonly number[];
  /** Milliseconds from its start until it was ready. */
  readonly readyAfter: number;
  /** Something new for this persona: milliseconds until the reader has it. */
  deliver(persona: string): Promise<number>;
  /** The same for all personas at once: milliseconds until the last reader has it. */
  storm(): Promise<number>;
  /** Asks it to stop: milliseconds to the end of its last process. */
  stop(): Promise<number>;
}

/** How many personas it serves, or null when it cannot serve that many. */
export type StartContestant = (personas: readonly string[]) => Promise<Contestant | null>;

const leaders = new Set<number>();
process.once('exit', () => {
  for (const leader of leaders) process.kill(-leader, 'SIGKILL'); // a run that failed leaves nothing behind
});

/** Starts a program that leads a group of its own, so that all it starts can be measured and stopped. */
export function startGroup(file: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(file, [...args], { ...options, detached: true });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${file} cannot be started`);
  leaders.add(pid);
  child.once('close', () => leaders.delete(pid));
  return child;
}

/** The processes of a group. */
export function listGroup(leader: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => Number(fileText(`/proc/${pid}/stat`)?.split(') ')[1]?.split(' ')[2]) === leader);
}

/** SIGTERM to a whole group; milliseconds to the end of all. */
export async function stopGroup(leader: ChildProcess): Promise<number> {
  const pid = leader.pid ?? 0;
  const from = performance.now();
  const ended = once(leader, 'close');
  process.kill(-pid, 'SIGTERM');
  await ended;
  return performance.now() - from;
}

export interface QuietCost {
  /** Share of one core. */
  readonly percent: number;
  readonly wakeUpsPerMinute: number;
  readonly privateMib: number;
}

/** What all processes together cost while nothing happens. */
export async function measureQuietCost({ pids }: Contestant, ms: number): Promise<QuietCost> {
  const list = pids();
  const costs = await Promise.all(list.map((pid) => measureCost(pid, ms)));
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return {
    percent: sum(costs.map(({ percent }) => percent)),
    wakeUpsPerMinute: sum(costs.map(({ wakeUpsPerMinute }) => wakeUpsPerMinute)),
    privateMib: sum(list.map((pid) => readMemory(pid).own)),
  };
}
