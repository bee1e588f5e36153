import { parseJson } from '../model/index.ts';
import { type LinkVerb, TURN_BOUNDARY_KINDS, type TurnBoundary, VERBS } from './protocol.ts';

/** The version of the line protocol. */
export const PROTOCOL = 1;
/** The longest shutdown deadline, in milliseconds (the bound of the seed): by then a daemon has ended, or is killed. */
export const MOST_DEADLINE_MS = 5000;

const LONGEST_NAME = 512;

export type LinkRequest =
  | { readonly verb: 'status' }
  /** Null: a person asks, and the ring waits for the next boundary. */
  | { readonly verb: 'notify_surface'; readonly boundary: TurnBoundary | null }
  | { readonly verb: 'resume_surface' }
  | { readonly verb: 'shutdown'; readonly reason: string; readonly deadlineMs: number };

/** One parsed line. */
export type RequestParseResult =
  | { readonly is: 'request'; readonly request: LinkRequest }
  | { readonly is: 'unknown-verb' }
  | { readonly is: 'bad-request'; readonly why: string }
  /** Not a JSON object, or a wrong token: the connection is closed. */
  | { readonly is: 'stranger' };

/** Formats a request as one line. */
export function formatRequestLine(request: LinkRequest, token: string): string {
  const head = { v: PROTOCOL, token, verb: request.verb };
  const details =
    request.verb === 'notify_surface' && request.boundary !== null
      ? { boundary: request.boundary }
      : request.verb === 'shutdown'
        ? { reason: request.reason, deadline_ms: request.deadlineMs }
        : {};
  return `${JSON.stringify({ ...head, ...details })}\n`;
}

/**
 * Parses a line (persona daemon, contract 4). No part of the line is ever sent back.
 *
 * @param isToken compares in constant time
 * @param isKnown this connection has already shown the token, so the line may omit it
 */
export function parseRequestLine(
  line: string,
  isToken: (candidate: string) => boolean,
  isKnown: boolean,
): RequestParseResult {
  const fields = parseObject(line);
  if (fields === null) return { is: 'stranger' };
  const { token } = fields;
  const mayPass = token === undefined ? isKnown : typeof token === 'string' && isToken(token);
  if (!mayPass) return { is: 'stranger' };
  if (fields.v !== PROTOCOL) return { is: 'bad-request', why: `v must be ${PROTOCOL}` };
  const verb = VERBS.find((known) => known === fields.verb);
  return verb === undefined ? { is: 'unknown-verb' } : parseRequest(verb, fields);
}

function parseRequest(verb: LinkVerb, fields: Readonly<Record<string, unknown>>): RequestParseResult {
  switch (verb) {
    case 'status':
    case 'resume_surface':
      return { is: 'request', request: { verb } };
    case 'notify_surface': {
      if (fields.boundary === undefined) return { is: 'request', request: { verb, boundary: null } };
      const turnBoundary = parseTurnBoundary(fields.boundary);
      if (turnBoundary !== null) return { is: 'request', request: { verb, boundary: turnBoundary } };
      return { is: 'bad-request', why: `boundary must be {kind: ${TURN_BOUNDARY_KINDS.join('|')}, session, turn}` };
    }
    case 'shutdown': {
      const { reason = '', deadline_ms: deadlineMs = MOST_DEADLINE_MS } = fields;
      if (typeof reason !== 'string' || reason.length > LONGEST_NAME) {
        return { is: 'bad-request', why: `reason must be a text of at most ${LONGEST_NAME} characters` };
      }
      if (typeof deadlineMs !== 'number' || !(deadlineMs >= 0 && deadlineMs <= MOST_DEADLINE_MS)) {
        return { is: 'bad-request', why: `deadline_ms must be 0 to ${MOST_DEADLINE_MS}` };
      }
      return { is: 'request', request: { verb, reason, deadlineMs } };
    }
  }
}

function parseTurnBoundary(value: unknown): TurnBoundary | null {
  if (typeof value !== 'object' || value === null) return null;
  const fields: Readonly<Record<string, unknown>> = { ...value };
  const { session, turn = null } = fields;
  const kind = TURN_BOUNDARY_KINDS.find((known) => known === fields.kind);
  if (kind === undefined || !isName(session)) return null;
  return turn === null || isName(turn) ? { kind, session, turn } : null;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= LONGEST_NAME;
}

export function parseObject(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = parseJson(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null; // the caller treats it as a line of another protocol
  }
}
