import type { Board, PersonaView, Snapshot } from '../../core/board/index.ts';
import type { Instant } from '../../core/model/index.ts';
import type { Clock } from '../../core/ports/index.ts';
import { toPersonaWire, toWire } from './to-wire.ts';
import type { PersonaWire, StatusWire } from './wire.ts';

/** The current status, computed once for all readers: `/status.json`, page and stream. Each part is made when it is first asked for. */
export interface CurrentStatus {
  readonly wire: StatusWire;
  /** `wire` as JSON. */
  readonly body: string;
  /** The same in UTF-8, encoded once so that repeated requests do not pay for it. */
  readonly bytes: Buffer;
  /** Changes whenever the content changes, the time of writing excluded. It differs between two runs. */
  readonly etag: string;
}

/** A body older than this is written again even if nothing happened, so that `generatedAt` is the time of the answer. */
const MAX_AGE_MS = 1000;
const NO_PERSONAS = '"personas":[]';

/** The JSON of a status, in the parts that are compared with the status before. */
interface StatusText {
  readonly body: string;
  /** Everything but the personas, without the time of writing. */
  readonly frame: string;
  readonly personas: readonly string[];
}

/**
 * Writes the status at most once per board change, however many readers ask. `run` makes the ETags of different runs differ. What
 * is written of a persona is kept for as long as it looks the same, because there may be thousands of them.
 */
export function createCurrentStatus(options: {
  readonly board: Board;
  readonly clock: Clock;
  readonly version: string;
  readonly port: () => number;
  readonly run: string;
}): () => CurrentStatus {
  const wires = new WeakMap<PersonaView, PersonaWire>();
  const texts = new WeakMap<PersonaView, string>();
  let cached: { snapshot: Snapshot; at: number; current: CurrentStatus } | null = null;
  let written: StatusText | null = null;
  let changes = 0;

  function findWire(view: PersonaView, now: Instant): PersonaWire {
    const known = wires.get(view);
    if (known !== undefined) return known;
    const wire = toPersonaWire(view, now);
    if (!hasTimedMute(view)) wires.set(view, wire);
    return wire;
  }

  function findText(view: PersonaView, now: Instant): string {
    const known = texts.get(view);
    if (known !== undefined) return known;
    const text = JSON.stringify(wires.get(view) ?? toPersonaWire(view, now));
    if (!hasTimedMute(view)) texts.set(view, text);
    return text;
  }

  function createCurrent(snapshot: Snapshot): CurrentStatus {
    const meta = { now: options.clock.now(), version: options.version, port: options.port() };
    const frame = toWire({ ...snapshot, personas: [] }, meta);
    let wire: StatusWire | null = null;
    let text: { readonly body: string; readonly etag: string } | null = null;
    let bytes: Buffer | null = null;
    const write = () => {
      if (text !== null) return text;
      const next = formatStatus(
        frame,
        snapshot.personas.map((view) => findText(view, meta.now)),
      );
      if (written !== null && !isSameText(written, next)) changes += 1;
      written = next;
      text = { body: next.body, etag: `"${options.run}.${changes}"` };
      return text;
    };
    return {
      get wire() {
        wire ??= { ...frame, personas: snapshot.personas.map((view) => findWire(view, meta.now)) };
        return wire;
      },
      get body() {
        return write().body;
      },
      get bytes() {
        bytes ??= Buffer.from(write().body);
        return bytes;
      },
      get etag() {
        return write().etag;
      },
    };
  }

  return () => {
    const snapshot = options.board.snapshot();
    const at = options.clock.monotonic();
    if (cached === null || cached.snapshot !== snapshot || at - cached.at >= MAX_AGE_MS)
      cached = { snapshot, at, current: createCurrent(snapshot) };
    return cached.current;
  };
}

/** Returns whether it changes by time alone: its mute ends. */
function hasTimedMute({ muted }: PersonaView): boolean {
  return muted.is === 'at';
}

function formatStatus(frame: StatusWire, personas: readonly string[]): StatusText {
  const text = JSON.stringify(frame);
  // The key of the list is the first text of this kind: within a string its quotation marks would be escaped.
  const body = text.replace(NO_PERSONAS, () => `"personas":[${personas.join(',')}]`);
  return { body, frame: text.replace(frame.generatedAt, ''), personas }; // the first match is the value of `generatedAt`
}

function isSameText(a: StatusText, b: StatusText): boolean {
  return (
    a.frame === b.frame &&
    a.personas.length === b.personas.length &&
    a.personas.every((text, i) => text === b.personas[i])
  );
}

/** Returns whether an `If-None-Match` header names this tag, weak or strong (RFC 9110, 13.1.2). */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);
}
