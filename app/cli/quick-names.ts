/** The commands that only ask the running program: their start is measured against a Node that does nothing. */
const QUICK_NAMES = ['status', 'poll'] as const;

export type QuickName = (typeof QUICK_NAMES)[number];

export function isQuick([first]: readonly string[]): boolean {
  return QUICK_NAMES.some((name) => name === first);
}
