/** The commands that only ask the running program: their start is measured against a Node that does nothing. */
const QUICK_NAMES = ['status', 'poll'] as const;

export type QuickName = (typeof QUICK_NAMES)[number];

/** What shells ask for names while a person types: as quick, and in no list of commands. */
export const COMPLETE = '__complete';

export function isQuick([first]: readonly string[]): boolean {
  return first === COMPLETE || QUICK_NAMES.some((name) => name === first);
}
