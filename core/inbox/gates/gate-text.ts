import { formatIso, parseIso, parseJson } from '../../model/index.ts';
import { CHECKS, type GateState, HOOKS, isTtl, MARK_PROVENANCES, MODES, MOST_NAME, MOST_TEXT } from './gate.ts';
import { explainInvalidMatcher } from './matcher.ts';

/** A gate's file is far smaller. */
export const MOST_FILE_BYTES = 16_384;

export type GateParseResult =
  /** `registered` null: the file does not say. */
  | ({ readonly is: 'gate'; readonly registered: boolean | null } & Omit<GateState, 'isBuiltIn'>)
  /** Not a valid gate's file; it blocks nothing. */
  | { readonly is: 'odd'; readonly why: string };

/** Formats the content of `ID.json` (contract 4, "ours"). */
export function formatGate({ gate, mark, isBuiltIn }: GateState): string {
  const { hook, mode, description, hint, check, matcher, ttlSeconds } = gate;
  const file = {
    registered: !isBuiltIn,
    hook,
    mode,
    description,
    hint,
    check,
    ...(matcher === null ? {} : { tool: matcher.tool, command: matcher.command }),
    satisfied_by: mark?.by ?? null,
    at: mark === null ? null : formatIso(mark.at),
    ttl: ttlSeconds,
    session: mark?.session ?? null,
    terminal: mark?.terminal ?? null,
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}

/**
 * Parses the file of a gate strictly: a key of the wrong type makes it odd, a missing key is null, and an unknown key is ignored.
 * An unknown provenance means no mark: the gate exists and is open (contract 6).
 */
export function parseGate(id: string, bytes: Uint8Array): GateParseResult {
  if (bytes.length > MOST_FILE_BYTES) return toOdd(`it is over ${MOST_FILE_BYTES} bytes long`);
  let value: unknown;
  try {
    value = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    return toOdd(error instanceof Error ? error.message : String(error));
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return toOdd('it holds no JSON object');
  const { registered, hook, mode, description, hint, check, tool, command, ttl, ...marked } = value as Readonly<
    Record<string, unknown>
  >;
  const hookRead = hook === null ? null : findKnown(HOOKS, hook);
  const modeRead = findKnown(MODES, mode);
  const checkRead = isNone(check) ? null : findKnown(CHECKS, check);
  if (!isNone(registered) && typeof registered !== 'boolean') return toOddKey('registered', registered);
  if (hookRead === undefined) return toOddKey('hook', hook);
  if (modeRead === undefined) return toOddKey('mode', mode);
  if (!isText(description, MOST_TEXT) || description.trim() === '') return toOddKey('description', description);
  if (!isNone(hint) && !isText(hint, MOST_TEXT)) return toOddKey('hint', hint);
  if (checkRead === undefined) return toOddKey('check', check);
  if (!isNone(ttl) && !(typeof ttl === 'number' && isTtl(ttl))) return toOddKey('ttl', ttl);
  const matcher = parseMatcher(tool, command);
  if (matcher?.is === 'odd') return matcher;
  const mark = parseMark(marked);
  if (mark.is === 'odd') return mark;
  const gate = { id, hook: hookRead, mode: modeRead, description, hint: hint ?? null, check: checkRead };
  const whole = { ...gate, matcher: matcher?.matcher ?? null, ttlSeconds: ttl ?? null };
  return { is: 'gate', registered: registered ?? null, gate: whole, mark: mark.mark };
}

function parseMark({ satisfied_by: by, at, session, terminal }: Readonly<Record<string, unknown>>) {
  if (isNone(by)) return { is: 'mark', mark: null } as const;
  if (typeof by !== 'string') return toOddKey('satisfied_by', by);
  const moment = typeof at === 'string' ? parseIso(at) : null;
  if (moment === null || Number.isNaN(moment)) return toOddKey('at', at);
  if (!isNone(session) && !isText(session, MOST_NAME)) return toOddKey('session', session);
  if (!isNone(terminal) && !isText(terminal, MOST_NAME)) return toOddKey('terminal', terminal);
  const known = findKnown(MARK_PROVENANCES, by);
  if (known === undefined) return { is: 'mark', mark: null } as const;
  return { is: 'mark', mark: { by: known, at: moment, session: session ?? null, terminal: terminal ?? null } } as const;
}

function parseMatcher(tool: unknown, command: unknown) {
  if (isNone(tool) && isNone(command)) return null;
  if (!isNone(tool) && typeof tool !== 'string') return toOddKey('tool', tool);
  if (!isNone(command) && typeof command !== 'string') return toOddKey('command', command);
  const matcher = { tool: tool ?? null, command: command ?? null };
  const why = explainInvalidMatcher(matcher);
  return why === null ? ({ is: 'matcher', matcher } as const) : toOdd(why);
}

function findKnown<T extends string>(knownValues: readonly T[], value: unknown): T | undefined {
  return knownValues.find((known) => known === value);
}

function isNone(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

function isText(value: unknown, most: number): value is string {
  return typeof value === 'string' && value !== '' && value.length <= most;
}

function toOdd(why: string): { readonly is: 'odd'; readonly why: string } {
  return { is: 'odd', why };
}

function toOddKey(key: string, value: unknown): { readonly is: 'odd'; readonly why: string } {
  return toOdd(`${key} is ${value === undefined ? 'missing' : JSON.stringify(value).slice(0, 80)}`);
}
