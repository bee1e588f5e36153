import type {
  ElicitRequestFormParams,
  RequestStateCodec,
  Server,
  ServerCapabilities,
  ServerContext,
  Tool,
} from '@modelcontextprotocol/server';
import type { Io } from '../../../core/command/index.ts';
import { displayJson } from '../../../core/format/index.ts';
import { Fault } from '../../../core/model/index.ts';
import { INSTRUCTIONS, type ServerIdentity } from '../mcp-greeting.ts';
import { parseToolArguments } from './arguments.ts';
import { callTool } from './calls.ts';
import { FORM, type FormState, findForms } from './forms.ts';
import { readInboxResource, readStatusResource } from './resources.ts';
import type { ResultDelivery } from './tool-call.ts';
import { INBOX_TEMPLATE, PROMPT, PROMPT_TEXT, parseInboxUri, STATUS_RESOURCE, TOOLS } from './tools.ts';

/** The parts of the library that the caller has loaded. */
export interface McpLibrary {
  readonly Server: typeof Server;
  readonly ResourceNotFoundError: new (uri: string) => Error;
}

export interface McpProtocolOptions {
  readonly io: Io;
  readonly identity: ServerIdentity;
  /** The revision of the client: `modern` from 2026-07-28 on, else `legacy`. */
  readonly era: string;
  /** Checks what a client sends back with a form, so that it names a decision that this process asked. */
  readonly formStates: RequestStateCodec<FormState>;
  /** Called with what follows a result, before the result is written. */
  deliver(id: string | number, delivery: ResultDelivery, signal: AbortSignal): void;
}

/** Lists do not change while the process runs. */
const LISTS = { ttlMs: 3_600_000, cacheScope: 'private' } as const;

/** Creates a server with the tools, the resources and the prompt, whichever way its messages come. */
export function createProtocolServer(
  { Server, ResourceNotFoundError }: McpLibrary,
  { io, identity, era, formStates, deliver }: McpProtocolOptions,
): Server {
  const server = new Server(
    { ...identity.info },
    {
      instructions: INSTRUCTIONS,
      capabilities: structuredClone(identity.capabilities) as ServerCapabilities,
      requestState: { verify: formStates.verify },
      cacheHints: {
        'tools/list': LISTS,
        'prompts/list': LISTS,
        'resources/list': LISTS,
        'resources/templates/list': LISTS,
        'resources/read': { ttlMs: 0, cacheScope: 'private' },
      },
    },
  );
  server.setRequestHandler('tools/list', () => ({ tools: TOOLS as unknown as Tool[] }));
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const { id, signal } = context.mcpReq;
    try {
      const given = parseToolArguments(params.name, params.arguments);
      const thread = findCallThread(context);
      const forms = findForms(server, context, era);
      const result = await callTool(given, { io, thread, signal, progress: createProgress(context), forms });
      const { delivery, form } = result;
      if (form !== undefined) {
        const params = { mode: 'form', ...form.params } as unknown as ElicitRequestFormParams;
        return {
          resultType: 'input_required' as const,
          inputRequests: { [FORM]: { method: 'elicitation/create' as const, params } },
          requestState: await formStates.mint({ decision: form.decision }),
        };
      }
      if (delivery !== undefined) deliver(id, delivery, signal);
      return { content: [{ type: 'text', text: result.text }], structuredContent: { ...result.structured } };
    } catch (error) {
      if (signal.aborted) throw error;
      return { content: [{ type: 'text', text: formatMcpError(error) }], isError: true };
    }
  });
  server.setRequestHandler('prompts/list', () => ({ prompts: [{ ...PROMPT }] }));
  server.setRequestHandler('prompts/get', ({ params }) => {
    if (params.name !== PROMPT.name) throw new Error(`there is no prompt ${params.name}: there is only ${PROMPT.name}`);
    const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: PROMPT_TEXT } }];
    return { description: PROMPT.description, messages };
  });
  server.setRequestHandler('resources/list', () => ({ resources: [{ ...STATUS_RESOURCE }] }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [{ ...INBOX_TEMPLATE }] }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }, context) => {
    const persona = parseInboxUri(uri);
    if (persona === null && uri !== STATUS_RESOURCE.uri) throw new ResourceNotFoundError(uri);
    const value =
      persona === null
        ? await readStatusResource(io)
        : readInboxResource({ io, thread: findCallThread(context) }, persona);
    const text = displayJson(JSON.stringify(value));
    return { contents: [{ uri, mimeType: 'application/json', text }] };
  });
  return server;
}

/** Codex names its thread in each call, because one server serves many threads. */
function findCallThread({ mcpReq }: ServerContext): string | null {
  const { _meta: meta } = mcpReq as { readonly _meta?: Readonly<Record<string, unknown>> };
  const thread = meta?.thread_id ?? meta?.threadId;
  return typeof thread === 'string' && thread !== '' ? thread : null;
}

function createProgress({ mcpReq }: ServerContext): ((seconds: number, total: number) => Promise<void>) | null {
  const { _meta: meta } = mcpReq as { readonly _meta?: Readonly<Record<string, unknown>> };
  const progressToken = meta?.progressToken;
  if (typeof progressToken !== 'string' && typeof progressToken !== 'number') return null;
  return (progress, total) =>
    mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total } });
}

/** The message of a fault says what to do. The next step of its code is for the person at the command line. */
export function formatMcpError(error: unknown): string {
  if (error instanceof Fault) return error.code === 'usage' ? error.message : error.explain();
  return error instanceof Error ? error.message : String(error);
}
