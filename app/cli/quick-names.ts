/** The commands that only ask the running program. Their start is measured against a Node that does nothing. */
const QUICK_NAMES = ['status', 'poll'] as const;

export type QuickName = (typeof QUICK_NAMES)[number];

/** Shells call it for names while a person types. It is as quick, and no list of commands shows it. */
export const COMPLETE = '__complete';

export function isQuick([first]: readonly string[]): boolean {
  return first === COMPLETE || QUICK_NAMES.some((name) => name === first);
}
