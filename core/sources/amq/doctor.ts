import { Fault } from '../../model/index.ts';
import { silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import { type CheckContext, type Finding, ok, skipped, warn } from '../module.ts';
import { findConfiguredQueues } from './open.ts';
import type { AmqSettings } from './settings.ts';
import { createAmqSource } from './source.ts';

/** Polls each queue that the settings name once, as the watcher of the tray process does. */
export async function checkAmq({ amq }: AmqSettings, { clock }: CheckContext, signal: AbortSignal): Promise<Finding> {
  if (amq.roots.length === 0) return skipped('no queue is named in the settings');
  const disk = createRealDisk(silentLog);
  const queues = findConfiguredQueues(amq, disk.files, []);
  if (queues.length === 0) return skipped(`no queue is in ${amq.roots.join(', ')}`);
  let agents = 0;
  let unread = 0;
  const flaws: string[] = [];
  for (const queue of queues) {
    await using source = createAmqSource({
      ...{ id: queue.name, queue: queue.path, suffix: '', disk, clock, log: silentLog, contentChars: null },
    });
    try {
      for (const persona of await source.personas(signal)) {
        signal.throwIfAborted();
        const pollResult = await source.poll(persona, { is: 'unset' }, signal);
        agents += 1;
        unread += pollResult.unread.is === 'unknown' ? 0 : pollResult.unread.n;
      }
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      flaws.push(error.message);
    }
    flaws.push(...source.defects);
  }
  const summary = `${queues.length} queue${queues.length === 1 ? '' : 's'}, ${agents} mailboxes, ${unread} unread`;
  const [first] = flaws;
  if (first === undefined) return ok(summary);
  const more = flaws.length === 1 ? '' : ` (and ${flaws.length - 1} more)`;
  return warn(`${summary}; ${first}${more}`, 'look at that file; other mail is not affected');
}
