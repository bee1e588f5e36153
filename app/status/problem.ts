import { FAULTS, Fault, JsonRefusal } from '../../core/model/index.ts';

/** A refusal in the form `{"error": {code, message, next}}`, which all refusals have. */
export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** What the sender should do. */
  readonly next: string;
}

/** A route throws this to refuse a request. */
export class HttpRefusal extends Error {
  readonly problem: Problem;

  constructor(status: number, code: string, message: string, next: string) {
    super(message);
    this.name = 'Refusal';
    this.problem = { status, code, message, next };
  }
}

/** Fastify's code for a body over its limit. */
const TOO_LARGE = 'FST_ERR_CTP_BODY_TOO_LARGE';

/** Converts any thrown value to what the sender is told. An unexpected error reveals nothing about our internals. */
export function toProblem(error: unknown, bodyLimit?: number): Problem {
  if (error instanceof HttpRefusal) return error.problem;
  if (error instanceof JsonRefusal) {
    const message = `the body is not read: ${error.message}`;
    return { status: 400, code: 'bad-request', message, next: 'send a JSON object as /openapi.json shows it' };
  }
  if (bodyLimit !== undefined && error instanceof Error && 'code' in error && error.code === TOO_LARGE) {
    const message = `the body is larger than ${bodyLimit} bytes`;
    return { status: 413, code: 'too-large', message, next: `send at most ${bodyLimit} bytes` };
  }
  if (error instanceof Fault) {
    const entry: { readonly next: string; readonly http?: number } = FAULTS[error.code];
    return {
      status: entry.http ?? 500,
      code: error.code,
      message: error.message,
      next: error.code === 'usage' ? 'correct the request and send it again' : entry.next,
    };
  }
  if (
    error instanceof Error &&
    'statusCode' in error &&
    typeof error.statusCode === 'number' &&
    error.statusCode < 500
  ) {
    const message = error.message;
    const isPath = 'code' in error && error.code === 'FST_ERR_BAD_URL';
    const next = isPath ? 'encode each part of the path, % as %25' : 'correct the request and send it again';
    return { status: error.statusCode, code: 'bad-request', message, next };
  }
  return { status: 500, code: 'internal', message: 'this request failed inside Hivebar', next: FAULTS.internal.next };
}

export function formatProblem({ code, message, next }: Problem): string {
  return JSON.stringify({ error: { code, message, next } });
}
