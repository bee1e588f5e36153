/** What a check came to: one line of what was seen, and the next step where there is one to take. */
export type Finding =
  | { readonly is: 'ok' | 'skipped'; readonly seen: string }
  | { readonly is: 'warn' | 'fail'; readonly seen: string; readonly next: string };

export const ok = (seen: string): Finding => ({ is: 'ok', seen });
/** It has no meaning here; `seen` says why. */
export const skipped = (seen: string): Finding => ({ is: 'skipped', seen });
/** It works, or will, but not as one would think. */
export const warn = (seen: string, next: string): Finding => ({ is: 'warn', seen, next });
/** Something that is switched on does not work. */
export const fail = (seen: string, next: string): Finding => ({ is: 'fail', seen, next });

/** What is wrong on a desktop is a fault; where nobody is logged in to one it is only to be known. */
export const missing = (hasDisplay: boolean, seen: string, next: string): Finding => ({
  is: hasDisplay ? 'fail' : 'warn',
  seen,
  next,
});
