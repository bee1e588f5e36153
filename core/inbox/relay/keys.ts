/**
 * The number of a decision is its machine's own, and two machines number alike: on the way it has the machine beside it, so
 * that the answer to one is not taken for the answer to the other. Any other key is the same everywhere.
 */
const OWN = /^decision:\d+$/;

export function keyOnTheWay(key: string, machine: string): string {
  return OWN.test(key) ? `${key}@${machine}` : key;
}

/** What a key on the way is called here: without the machine when it is this one. */
export function keyHere(key: string, machine: string): string {
  const end = `@${machine}`;
  const own = key.endsWith(end) ? key.slice(0, -end.length) : key;
  return OWN.test(own) ? own : key;
}
