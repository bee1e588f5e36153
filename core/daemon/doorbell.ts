import type { Doorbell } from '../link/index.ts';
import { formatIso, type Instant } from '../model/index.ts';

/**
 * Creates all that a surface ever receives (persona daemon, contract 4). The time is the only input, so no word of a message can
 * get into the doorbell.
 */
export function createDoorbell(at: Instant): Doorbell {
  return { timestamp: formatIso(at), source: 'daemon', kind: 'pending_work_notice' };
}
