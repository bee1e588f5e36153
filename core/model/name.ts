/** What two spellings of one name share: case-blind and in one Unicode form. Only to compare, never to show or store. */
export function foldName(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** Do two names mean one persona? Mail to oneself in another spelling is still that. */
export function isSameName(a: string, b: string): boolean {
  return a === b || foldName(a) === foldName(b);
}
