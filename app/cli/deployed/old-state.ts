import type { SavedState } from '../../../core/watcher/index.ts';

/** The inbox that a position belongs to: `[scheme, host, port, path, [[key, value], ...]]` (Kijito contract d). */
export type OldIdentity = readonly [string, string, number, string, readonly (readonly [string, string])[]];

/** The contents of a state file of a deployed monitor. */
export type OldState =
  | {
      readonly is: 'position';
      readonly identity: OldIdentity;
      readonly saved: SavedState;
      /** The keys of the format as in the file, including those of a pin. */
      readonly keys: Readonly<Record<string, unknown>>;
    }
  | { readonly is: 'unusable'; readonly why: string };

const MOST_BYTES = 4 * 1024 * 1024;
const FLAGS = ['pin_forced', 'pin_evidence_intact', 'state_corrupt', 'unread_hidden'] as const;
const NUMBERS = ['gap_alerted', 'pin_release_at'] as const;

/** Parses strictly: a file with any irregularity holds no position (Kijito contract, traps 23, 30, 31). */
export function parseOldState(bytes: Uint8Array): OldState {
  if (bytes.length === 0) return { is: 'unusable', why: 'is empty' };
  if (bytes.length > MOST_BYTES) return { is: 'unusable', why: `is over ${MOST_BYTES} bytes long` };
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return { is: 'unusable', why: 'is not valid JSON' }; // the place of the error would help nobody
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    return { is: 'unusable', why: 'does not contain a JSON object' };
  return parseFields(value as Readonly<Record<string, unknown>>);
}

function parseFields(keys: Readonly<Record<string, unknown>>): OldState {
  const { identity, cursor, state, consecutive_failures: failures, emitted_above: above = [] } = keys;
  const odd = (key: string): OldState => ({
    is: 'unusable',
    why:
      keys[key] === undefined ? `has no ${key}` : `has an unusable ${key}: ${JSON.stringify(keys[key])?.slice(0, 80)}`,
  });
  if (!isIdentity(identity)) return odd('identity');
  if (cursor !== null && !isInteger(cursor)) return odd('cursor');
  if (state !== 'UP' && state !== 'DOWN') return odd('state');
  if (!isInteger(failures) || failures < 0) return odd('consecutive_failures');
  if (!Array.isArray(above) || !above.every(isInteger)) return odd('emitted_above');
  for (const key of FLAGS) if (keys[key] !== undefined && typeof keys[key] !== 'boolean') return odd(key);
  for (const key of NUMBERS) if (keys[key] !== undefined && !isInteger(keys[key])) return odd(key);
  const { gap_alerted: alerted, pin_release_at: release } = keys;
  const saved: SavedState = {
    cursor: cursor === null ? null : Math.max(cursor, 0), // -1: an inbox that was empty (D23)
    state,
    consecutive_failures: failures,
    ...(above.length === 0 ? {} : { delivered_above: toSpans(above) }),
    ...(isInteger(alerted) ? { gap_alerted: alerted } : {}),
    ...(isInteger(release) ? { pin_release_at: release } : {}),
  };
  const names = ['identity', 'state', 'consecutive_failures', 'emitted_above', ...FLAGS, ...NUMBERS];
  const copiedKeys = Object.fromEntries(names.flatMap((key) => (keys[key] === undefined ? [] : [[key, keys[key]]])));
  return { is: 'position', identity, saved, keys: { ...copiedKeys, cursor: saved.cursor } };
}

/** Merges consecutive ids into spans. */
function toSpans(ids: readonly number[]): readonly (readonly [number, number])[] {
  const spans: [number, number][] = [];
  for (const id of [...new Set(ids)].toSorted((a, b) => a - b)) {
    const last = spans.at(-1);
    if (last !== undefined && last[1] === id - 1) last[1] = id;
    else spans.push([id, id]);
  }
  return spans;
}

/** Returns the persona of an inbox of a hive; null for any other address. */
export function findPersona([, , , , query]: OldIdentity): string | null {
  const [first, ...rest] = query;
  return first !== undefined && rest.length === 0 && first[0] === 'persona' ? first[1] : null;
}

/** Formats the base address of the hive for a person. */
export function formatBaseUrl([scheme, host, port, path]: OldIdentity): string {
  const plain = (scheme === 'http' && port === 80) || (scheme === 'https' && port === 443);
  return `${scheme}://${host}${plain ? '' : `:${port}`}${path.replace(/\/api\/inbox$/, '')}`;
}

function isIdentity(value: unknown): value is OldIdentity {
  if (!Array.isArray(value) || value.length !== 5) return false;
  const [scheme, host, port, path, query] = value as readonly unknown[];
  return [scheme, host, path].every((part) => typeof part === 'string') && isInteger(port) && isQuery(query);
}

function isQuery(value: unknown): boolean {
  const isPair = (pair: unknown): boolean =>
    Array.isArray(pair) && pair.length === 2 && pair.every((part) => typeof part === 'string');
  return Array.isArray(value) && value.every(isPair);
}

function isInteger(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value);
}
