import type { Doorbell } from '../link/index.ts';
import { formatIso, type Instant } from '../model/index.ts';

/**
 * All that a surface is ever handed (persona daemon, contract 4). A moment is everything that comes in here, so no word of
 * a message can come out.
 */
export function createDoorbell(at: Instant): Doorbell {
  return { timestamp: formatIso(at), source: 'daemon', kind: 'pending_work_notice' };
}
