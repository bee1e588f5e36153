import { join } from 'node:path';
import type { Clock, Files } from '../../ports/index.ts';
import { watchDirectories } from '../directories.node.ts';
import { toAddress } from './ledger.ts';

const SUFFIX = '.signal';

/**
 * Watches the signal files that a server may write: `projects/SLUG/agents/NAME.signal`, each rewritten in place. They are hints, and
 * their content is never read (agent-mail contract 4).
 * @param signals the directory that holds `projects`; it need not exist
 */
export function watchSignals(
  signals: string,
  { clock, files }: { readonly clock: Clock; readonly files: Pick<Files, 'readdir'> },
  heard: (address: string) => void,
): Disposable {
  const directories = watchDirectories({ clock, statOnly: false });
  const root = join(signals, 'projects');
  const watched = new Map<string, Disposable>();

  /** Follows the directory of each project that is there now. */
  function follow(): void {
    const slugs = new Set(listNames(root));
    for (const [slug, directory] of watched) {
      if (slugs.has(slug)) continue;
      directory[Symbol.dispose]();
      watched.delete(slug);
    }
    for (const slug of slugs) if (!watched.has(slug)) watched.set(slug, watchProject(slug));
  }

  function watchProject(slug: string): Disposable {
    return directories.add(
      join(root, slug, 'agents'),
      (name) => {
        if (name?.endsWith(SUFFIX)) heard(toAddress(slug, name.slice(0, -SUFFIX.length)));
      },
      'deaf',
    );
  }

  function listNames(path: string): readonly string[] {
    try {
      return files.readdir(path);
    } catch {
      return []; // signals are off, which is the default
    }
  }

  directories.add(root, follow, 'always');
  follow();
  return directories;
}
