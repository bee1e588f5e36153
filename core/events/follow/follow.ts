import { watchFile } from './file-changes.node.ts';
import type { EventFollower, FollowResult } from './follower.ts';

/**
 * Yields everything that a follower finds in a file, now and later, until `signal` aborts. @throws like `next` of the follower
 */
export async function* follow(
  follower: EventFollower,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<Exclude<FollowResult, { is: 'end' }>, void> {
  let changed = false;
  let wake: (() => void) | null = null;
  const onChange = (): void => {
    changed = true;
    wake?.();
  };
  using _changes = watchFile(path, onChange);
  signal.addEventListener('abort', onChange, { once: true });
  while (!signal.aborted) {
    changed = false;
    const result = follower.next();
    if (result.is !== 'end') yield result;
    else if (!changed) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
}
