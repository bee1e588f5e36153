import { computeNonce, type Event } from '../events/index.ts';

const PREFIX = 'KIJITOMON_';
const TOKEN = 'KIJITOMON_TOKEN';

/** Maps an event key to its variable, for keys that only some events have. */
const SOMETIMES: Readonly<Record<string, string>> = {
  persona: 'PERSONA',
  id: 'ID',
  from: 'FROM',
  content: 'CONTENT',
  created: 'CREATED',
  cursor: 'CURSOR',
  reason: 'REASON',
  consecutive_failures: 'FAILURES',
  seeded: 'SEEDED',
  current_max: 'CURRENT_MAX',
  capped_to: 'CAPPED_TO',
  dropped: 'DROPPED',
  stranded_inboxes: 'STRANDED',
  dormant_inboxes: 'DORMANT',
};

const ALWAYS: Readonly<Record<string, string>> = {
  event: 'EVENT',
  source: 'SOURCE',
  ts: 'TS',
  event_id: 'EVENT_ID',
};

const NONCE = 'NONCE';

const NAMES: Readonly<Record<string, string>> = { ...ALWAYS, ...SOMETIMES };
const SET_HERE: ReadonlySet<string> = new Set([...Object.values(NAMES), NONCE].map((name) => PREFIX + name));

// Linux refuses to start a command with a variable over 128 KiB, and a message must never block the watcher (trap 8).
const MOST_BYTES = 100_000;

/**
 * Returns the environment of a command for one event (Kijito spec 6.2). It is the inherited environment without the
 * token (D12), plus `KIJITOMON_EVENT`, `_SOURCE`, `_TS`, `_EVENT_ID`, `_NONCE`, `_PERSONA` and the variables that apply
 * to the event. A variable that does not apply is unset, even when it was inherited. NUL is removed, a lone surrogate
 * is replaced, and a huge value is cut.
 */
export function toExecEnv(
  event: Event,
  inherited: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(inherited)) {
    const upper = name.toUpperCase(); // these names ignore case on Windows
    if (value !== undefined && upper !== TOKEN && !SET_HERE.has(upper)) env[name] = value;
  }
  for (const [key, name] of Object.entries(NAMES)) {
    const value = (event as unknown as Record<string, unknown>)[key];
    if (value !== undefined && value !== null) env[PREFIX + name] = clean(String(value));
  }
  env[PREFIX + NONCE] = computeNonce(event.event_id);
  return env;
}

function clean(value: string): string {
  const text = value.replaceAll('\0', '').toWellFormed();
  if (Buffer.byteLength(text) <= MOST_BYTES) return text;
  // The cut is in bytes. The streaming decoder drops a character that the cut tears.
  return new TextDecoder().decode(Buffer.from(text, 'utf8').subarray(0, MOST_BYTES), { stream: true });
}
