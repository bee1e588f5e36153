/** The result of a check of the doctor: one line about what was seen, and the next step where there is one. */
export type Finding =
  | { readonly is: 'ok' | 'skipped'; readonly seen: string }
  | { readonly is: 'warn' | 'fail'; readonly seen: string; readonly next: string };

export const ok = (seen: string): Finding => ({ is: 'ok', seen });
/** The check does not apply here; `seen` says why. */
export const skipped = (seen: string): Finding => ({ is: 'skipped', seen });
/** It works, or will work, but not as a person would expect. */
export const warn = (seen: string, next: string): Finding => ({ is: 'warn', seen, next });
/** A function that is switched on does not work. */
export const fail = (seen: string, next: string): Finding => ({ is: 'fail', seen, next });
