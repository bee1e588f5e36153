import { fileChanges } from './file-changes.node.ts';
import type { Followed, Follower } from './follower.ts';

/** Everything a follower finds in a file, now and as it comes, until `signal` aborts. @throws as `next` of the follower */
export async function* follow(
  follower: Follower,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<Exclude<Followed, { is: 'end' }>, void> {
  let changed = false;
  let wake: (() => void) | null = null;
  const look = (): void => {
    changed = true;
    wake?.();
  };
  using _changes = fileChanges(path, look);
  signal.addEventListener('abort', look, { once: true });
  while (!signal.aborted) {
    changed = false;
    const found = follower.next();
    if (found.is !== 'end') yield found;
    else if (!changed) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
}
