import type { NewItem } from '../../core/inbox/index.ts';
import { realClock } from '../../core/ports/index.ts';

/** An item with what a test does not care for filled in. */
export function newItem(parts: Partial<NewItem>): NewItem {
  return {
    to: { is: 'persona', name: 'ada' },
    type: 'event',
    source: 'ci',
    content: 'text',
    priority: 2,
    session: null,
    created: realClock.now(),
    expires: null,
    dedupKey: null,
    ...parts,
  };
}
