import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { toStem } from '../../core/state/index.ts';
import type { Garden } from './garden-store.ts';
import type { EventLine } from './process.ts';
import { type TrayHome, trayHome } from './tray-process.ts';

/** A home whose tray process watches this store. */
export function gardenHome({ store }: Garden, more: object = {}): TrayHome {
  return trayHome({ primary: { is: 'local' }, garden: { is: 'auto', store }, ...more });
}

export const toPersonaId = (gardenId: string): string => `garden-${gardenId}`;

/** What a follower of a citizen could have read, but for what concerns no message. */
export function readMailEvents(home: TrayHome, gardenId: string): readonly EventLine[] {
  return home.events(toStem(toPersonaId(gardenId))).filter((event) => 'stem' in event);
}

/** `EVENT ID STEM`, in order. */
export function listDelivered(home: TrayHome, gardenId: string): readonly string[] {
  return readMailEvents(home, gardenId).map(({ event, id, stem }) => `${event} ${id} ${stem}`);
}

/** A process that lives until it is ended, and its start key. */
export interface Sleeper extends AsyncDisposable {
  readonly pid: number;
  readonly startKey: string;
  end(): Promise<void>;
}

export async function sleeper(): Promise<Sleeper> {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' });
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject));
  const pid = child.pid ?? 0;
  const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const started = line.slice(line.lastIndexOf(')') + 2).split(' ')[19];
  const end = async (): Promise<void> => {
    child.kill('SIGKILL');
    await gone;
  };
  return { pid, startKey: `linux:${started}`, end, [Symbol.asyncDispose]: end };
}
