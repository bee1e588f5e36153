import type { FaultCode } from './fault.ts';
import type { Instant } from './instant.ts';

/** Whether an inbox can be polled. Only going down and coming back is an edge; a failure below the threshold is `failing`. */
export type Health =
  | { readonly is: 'unseen' }
  | { readonly is: 'up'; readonly since: Instant }
  | { readonly is: 'failing'; readonly failures: number; readonly why: FaultCode }
  | { readonly is: 'down'; readonly since: Instant; readonly failures: number; readonly why: FaultCode };

export type HealthLabel = 'UP' | 'DOWN' | 'PENDING';

/** Returns the word that every surface shows. Failing below the threshold is still UP (Kijito spec 7.1). */
export function toHealthLabel(health: Health): HealthLabel {
  switch (health.is) {
    case 'unseen':
      return 'PENDING';
    case 'up':
    case 'failing':
      return 'UP';
    case 'down':
      return 'DOWN';
  }
}
