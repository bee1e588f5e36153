import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Faults } from './faults.ts';
import { findCaller, type PersonaRecord } from './personas.ts';
import type { Signal } from './queue.ts';
import type { Caller, Entry } from './recording.ts';
import type { Registrations } from './registrations.ts';

/** A status and a body, which is sent as it is when it is text; null: there is never an answer. */
type Answer = { readonly status: number; readonly body: unknown; readonly afterMs?: number } | null;

export interface RequestsOptions {
  readonly faults: Faults;
  readonly personas: readonly PersonaRecord[];
  readonly put: (entry: Entry) => void;
  readonly registrations: () => Registrations;
  readonly later: (ms: number, run: () => void) => void;
}

/** The four calls that are no stream. */
export function signalRequests({ faults, personas, put, registrations, later }: RequestsOptions) {
  const answerTo = (call: string, persona: PersonaRecord, body: Record<string, unknown>): Answer => {
    switch (call) {
      case 'GET /v1/signals/pending':
        return pending(faults, persona);
      case 'POST /v1/signals/pending/drain': {
        const { max = 20 } = body;
        const isGood = typeof max === 'number' && Number.isInteger(max) && max > 0;
        return isGood ? { status: 200, body: persona.drain(max) } : { status: 400, body: { error: 'bad_request' } };
      }
      case 'POST /v1/signals': {
        const to = personas.find((candidate) => candidate.tenant === persona.tenant && candidate.identity === body.to);
        if (to === undefined) return { status: 404, body: { error: 'unknown_identity' } };
        const binding = faults.staleTargets.get(to.identity);
        if (binding !== undefined) return { status: 409, body: { error: 'stale_target', binding } };
        return { status: 202, body: { id: to.signals(1, body as Signal)[0] } };
      }
      case 'GET /v1/registrations':
        return { status: 200, body: registrations() };
      default:
        return { status: 404, body: { error: 'not_found' } };
    }
  };

  const verdict = async (
    request: IncomingMessage,
    caller: Caller,
    persona: PersonaRecord | null,
    path: string,
  ): Promise<Answer> => {
    if (persona === null) return { status: 401, body: { error: 'unauthorized' } };
    const { method = 'GET' } = request;
    // A daemon observes: whatever it wants to change, its token is refused before the path is looked at.
    if (caller === 'daemon' && method !== 'GET') return { status: 403, body: { error: 'scope', need: 'act' } };
    return answerTo(`${method} ${path}`, persona, method === 'GET' ? {} : await readBody(request));
  };

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname: path } = new URL(request.url ?? '/', 'http://upstream');
    const { caller, persona } = findCaller(personas, request);
    const { method = 'GET' } = request;
    const answer = await verdict(request, caller, persona, path);
    const identity = persona?.identity ?? null;
    put({ is: 'request', method, path, status: answer?.status ?? 0, caller, identity });
    if (answer === null) return;
    const { status, body, afterMs = 0 } = answer;
    const send = (): void => {
      if (response.destroyed) return;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    };
    if (afterMs > 0) later(afterMs, send);
    else send();
  };
}

function pending({ pending: fault }: Faults, persona: PersonaRecord): Answer {
  const right = persona.queue.pending();
  switch (fault?.is) {
    case 'status':
      return { status: fault.status, body: { error: 'switched' } };
    case 'bad-json':
      return { status: 200, body: '{"rev":1,' };
    case 'bad-shape':
      return { status: 200, body: fault.body ?? { rev: 'one', count: -1 } };
    case 'delay':
      return { status: 200, body: right, afterMs: fault.ms };
    case 'hang':
      return null;
    case undefined:
      return { status: 200, body: right };
  }
}

/** An object without members when it is no JSON object. */
async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {}; // judged by what is missing in it
  }
}
