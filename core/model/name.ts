/**
 * Returns a form that all spellings of a name share: lower case and one Unicode form. Use it to compare, never to show
 * or store.
 */
export function foldName(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** Returns whether two names mean the same persona. Mail to oneself in another spelling is still mail to oneself. */
export function isSameName(a: string, b: string): boolean {
  return a === b || foldName(a) === foldName(b);
}
