import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { realFiles } from '../../../core/ports/index.ts';
import { readText } from '../../../core/state/index.ts';
import type { DoctorContext } from './doctor-context.ts';
import type { InstanceProbe } from './instance.ts';

const MOST_BYTES = 64 * 1024;

export async function probeInstance({ dirs, version, tray }: DoctorContext): Promise<InstanceProbe> {
  const path = join(dirs.run, 'hivebar.json');
  const file = readInstanceFile(path);
  const owner = file.is === 'running' ? findProcess(file.pid) : ({ is: 'gone' } as const);
  return { path, file, owner, answer: await tray(), ourVersion: version };
}

function readInstanceFile(path: string): InstanceProbe['file'] {
  const text = readText(realFiles, path, MOST_BYTES);
  if (text === null) return { is: 'absent' };
  try {
    const { id, pid, startedAt, port } = JSON.parse(text) as Record<string, unknown>;
    if (typeof id !== 'string' || !Number.isInteger(pid) || typeof startedAt !== 'number') return { is: 'garbage' };
    return { is: 'running', id, pid: pid as number, startedAt, port: typeof port === 'number' ? port : null };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return { is: 'garbage' };
    throw error;
  }
}

function findProcess(pid: number): InstanceProbe['owner'] {
  try {
    process.kill(pid, 0);
  } catch (error) {
    const isOthers = error instanceof Error && 'code' in error && error.code === 'EPERM';
    if (!isOthers) return { is: 'gone' };
  }
  return { is: 'alive', startedAt: readStartTime(pid) };
}

/** proc(5) counts in hundredths of a second since boot, whatever tick the kernel uses. */
const TICK_MS = 10;

/** Returns milliseconds since the epoch; null where there is no /proc. */
function readStartTime(pid: number): number | null {
  try {
    const boot = Number(/^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1]);
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program comes second, in parentheses, and may contain anything.
    const ticks = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
    const at = boot * 1000 + ticks * TICK_MS;
    return Number.isFinite(at) ? at : null;
  } catch {
    return null; // there is no /proc, or the process has just ended
  }
}
