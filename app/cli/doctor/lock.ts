import { type Finding, fail, ok, warn } from './finding.ts';

export interface LockProbe {
  readonly os: NodeJS.Platform;
  readonly koffi: { readonly is: 'loads'; readonly version: string } | { readonly is: 'failed'; readonly why: string };
  /** Absolute path of util-linux's `flock`; null: not on PATH. */
  readonly flock: string | null;
}

export function judgeLock({ os, koffi, flock }: LockProbe): Finding {
  if (koffi.is === 'loads') return ok(`koffi ${koffi.version} loads`);
  const next = 'install again, for this processor and this libc: npm install hivebar';
  const problem = `koffi does not load (${koffi.why})`;
  if (os === 'linux' && flock !== null) return warn(`${problem}; ${flock} is used in its place`, next);
  if (os === 'darwin') return warn(`${problem}; files are locked as they are opened`, next);
  return fail(
    `${problem}, and there is no other way to lock a file`,
    os === 'linux' ? `${next}; or install util-linux` : next,
  );
}
