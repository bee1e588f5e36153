import { instantOfIso, isoOf, parseJson } from '../../model/index.ts';
import { CHECKS, HOOKS, isTtl, MODES, MOST_NAME, MOST_TEXT, PROVENANCES, type Standing } from './gate.ts';
import { refusedMatcher } from './matcher.ts';

/** A file of a gate is far smaller. */
export const MOST_FILE_BYTES = 16_384;

export type GateRead =
  /** `registered` null: the file does not say it. */
  | ({ readonly is: 'gate'; readonly registered: boolean | null } & Omit<Standing, 'isBuiltIn'>)
  /** It is no gate's file; it blocks nothing. */
  | { readonly is: 'odd'; readonly why: string };

/** What stands in `ID.json` (contract 4, "ours"). */
export function textOfGate({ gate, mark, isBuiltIn }: Standing): string {
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
    at: mark === null ? null : isoOf(mark.at),
    ttl: ttlSeconds,
    session: mark?.session ?? null,
    terminal: mark?.terminal ?? null,
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}

/**
 * A file of that id, read strictly: a key of the wrong kind makes it odd, a key that is missing is null, a further key is
 * nobody's concern. A provenance that is not known is no mark: the gate is there, and open (contract 6).
 */
export function gateOfText(id: string, bytes: Uint8Array): GateRead {
  if (bytes.length > MOST_FILE_BYTES) return odd(`it is over ${MOST_FILE_BYTES} bytes long`);
  let value: unknown;
  try {
    value = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    return odd(error instanceof Error ? error.message : String(error));
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return odd('it holds no JSON object');
  const { registered, hook, mode, description, hint, check, tool, command, ttl, ...marked } = value as Readonly<
    Record<string, unknown>
  >;
  const hookRead = hook === null ? null : oneOf(HOOKS, hook);
  const modeRead = oneOf(MODES, mode);
  const checkRead = isNone(check) ? null : oneOf(CHECKS, check);
  if (!isNone(registered) && typeof registered !== 'boolean') return wrong('registered', registered);
  if (hookRead === undefined) return wrong('hook', hook);
  if (modeRead === undefined) return wrong('mode', mode);
  if (!isText(description, MOST_TEXT) || description.trim() === '') return wrong('description', description);
  if (!isNone(hint) && !isText(hint, MOST_TEXT)) return wrong('hint', hint);
  if (checkRead === undefined) return wrong('check', check);
  if (!isNone(ttl) && !(typeof ttl === 'number' && isTtl(ttl))) return wrong('ttl', ttl);
  const matcher = matcherOf(tool, command);
  if (matcher?.is === 'odd') return matcher;
  const mark = markOf(marked);
  if (mark.is === 'odd') return mark;
  const gate = { id, hook: hookRead, mode: modeRead, description, hint: hint ?? null, check: checkRead };
  const whole = { ...gate, matcher: matcher?.matcher ?? null, ttlSeconds: ttl ?? null };
  return { is: 'gate', registered: registered ?? null, gate: whole, mark: mark.mark };
}

function markOf({ satisfied_by: by, at, session, terminal }: Readonly<Record<string, unknown>>) {
  if (isNone(by)) return { is: 'mark', mark: null } as const;
  if (typeof by !== 'string') return wrong('satisfied_by', by);
  const moment = typeof at === 'string' ? instantOfIso(at) : null;
  if (moment === null || Number.isNaN(moment)) return wrong('at', at);
  if (!isNone(session) && !isText(session, MOST_NAME)) return wrong('session', session);
  if (!isNone(terminal) && !isText(terminal, MOST_NAME)) return wrong('terminal', terminal);
  const known = oneOf(PROVENANCES, by);
  if (known === undefined) return { is: 'mark', mark: null } as const;
  return { is: 'mark', mark: { by: known, at: moment, session: session ?? null, terminal: terminal ?? null } } as const;
}

function matcherOf(tool: unknown, command: unknown) {
  if (isNone(tool) && isNone(command)) return null;
  if (!isNone(tool) && typeof tool !== 'string') return wrong('tool', tool);
  if (!isNone(command) && typeof command !== 'string') return wrong('command', command);
  const matcher = { tool: tool ?? null, command: command ?? null };
  const why = refusedMatcher(matcher);
  return why === null ? ({ is: 'matcher', matcher } as const) : odd(why);
}

function oneOf<T extends string>(all: readonly T[], value: unknown): T | undefined {
  return all.find((one) => one === value);
}

function isNone(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

function isText(value: unknown, most: number): value is string {
  return typeof value === 'string' && value !== '' && value.length <= most;
}

function odd(why: string): { readonly is: 'odd'; readonly why: string } {
  return { is: 'odd', why };
}

function wrong(key: string, value: unknown): { readonly is: 'odd'; readonly why: string } {
  return odd(`${key} is ${value === undefined ? 'missing' : JSON.stringify(value).slice(0, 80)}`);
}
