import type { ClientCapabilities, ElicitRequestFormParams, Server, ServerContext } from '@modelcontextprotocol/server';
import type { ClientForms, FormAnswer } from './tool-call.ts';

/** The key of the form in a result. */
export const FORM = 'form';
/** How long a client may show a form. The call ends it before that. */
const FORM_REQUEST_MS = 600_000;

/** What a client sends back with a form. */
export interface FormState {
  readonly decision: number;
}

/** A client that offers elicitation without naming a kind shows forms. */
function takesForms(capabilities: ClientCapabilities | undefined): boolean {
  const elicitation = capabilities?.elicitation;
  return elicitation !== undefined && (Object.keys(elicitation).length === 0 || 'form' in elicitation);
}

/** Returns how the person at the client can be asked; null: the client shows no forms. */
export function findForms(server: Server, context: ServerContext, era: string): ClientForms | null {
  return era === 'modern' ? findReturnedForms(context) : findAskedForms(server, context);
}

/** A client before 2026-07-28 is asked while the call waits. */
function findAskedForms(server: Server, { mcpReq }: ServerContext): ClientForms | null {
  if (!takesForms(server.getClientCapabilities())) return null;
  return {
    is: 'asks',
    async ask(form, signal) {
      try {
        const params = { mode: 'form', ...form } as unknown as ElicitRequestFormParams;
        return toFormAnswer(await mcpReq.elicitInput(params, { signal, timeout: FORM_REQUEST_MS }));
      } catch {
        return null; // it was withdrawn, or the client cannot show it: the question stays open
      }
    },
  };
}

/** A later one repeats the call with the answer. */
function findReturnedForms({ mcpReq }: ServerContext): ClientForms | null {
  const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
  const capabilities = envelope?.['io.modelcontextprotocol/clientCapabilities'];
  if (!takesForms(capabilities as ClientCapabilities | undefined)) return null;
  const state = mcpReq.requestState<FormState>();
  if (state === undefined) return { is: 'repeats', repeated: null };
  return {
    is: 'repeats',
    repeated: { decision: state.decision, answer: toFormAnswer(mcpReq.inputResponses?.[FORM]) },
  };
}

/** What a client answers is checked against the options of the decision. */
function toFormAnswer(response: unknown): FormAnswer {
  const { action, content } = (response ?? {}) as { readonly action?: unknown; readonly content?: unknown };
  const { answer } = (content ?? {}) as { readonly answer?: unknown };
  return action === 'accept' && typeof answer === 'string' ? answer : null;
}
