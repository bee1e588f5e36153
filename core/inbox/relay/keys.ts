import type { KeyedItem } from './wire.ts';

const OWN = /^decision:\d+$/;

/**
 * The number of a decision is its machine's own, and two machines number alike: on the way its answer has the machine in the
 * key, so that the answer to one is not taken for the answer to the other. Any other key is the same everywhere.
 */
export function keyOnTheWay({ type, dedupKey }: Pick<KeyedItem, 'type' | 'dedupKey'>, machine: string): string {
  return type === 'decision' && OWN.test(dedupKey) ? `${dedupKey}@${machine}` : dedupKey;
}

/** What a key on the way is called here: without the machine when it is this one. */
export function keyHere(key: string, machine: string): string {
  const end = `@${machine}`;
  const own = key.endsWith(end) ? key.slice(0, -end.length) : key;
  return OWN.test(own) ? own : key;
}
