import { randomBytes } from 'node:crypto';
import type {
  ClientCapabilities,
  ElicitRequestFormParams,
  Server,
  ServerCapabilities,
  ServerContext,
  Tool,
  Transport,
} from '@modelcontextprotocol/server';
import type { Io } from '../../../core/command/index.ts';
import { displayJson } from '../../../core/format/index.ts';
import { Fault } from '../../../core/model/index.ts';
import { readVersion } from '../../package.node.ts';
import { getGreetedId } from '../mcp-greet.node.ts';
import { CHANNEL, createServerIdentity, INSTRUCTIONS } from '../mcp-greeting.ts';
import { createStopSignal, leaveSoon } from '../process.node.ts';
import { parseToolArguments } from './arguments.ts';
import { callTool } from './calls.ts';
import { createChannelBell } from './channel.ts';
import { createInboxFollower, readInboxResource, readStatusResource } from './resources.ts';
import { type ClientForms, createMcpLog, type FormAnswer, type ResultDelivery } from './tool-call.ts';
import { formatInboxUri, INBOX_TEMPLATE, PROMPT, PROMPT_TEXT, parseInboxUri, STATUS_RESOURCE, TOOLS } from './tools.ts';
import { createWire } from './wire.node.ts';

export interface McpServerOptions {
  /** Rings for the channel mode of Claude Code. */
  readonly rings: boolean;
}

/** Lists do not change while the process runs. */
const LISTS = { ttlMs: 3_600_000, cacheScope: 'private' } as const;

/**
 * Serves one client over stdin and stdout until stdin ends. One factory answers both revisions of the protocol: the one that
 * begins with `initialize`, and the one of 2026-07-28.
 */
export async function runMcpServer(io: Io, { rings }: McpServerOptions): Promise<number> {
  const [{ createRequestStateCodec, ResourceNotFoundError, Server }, { serveStdio, StdioServerTransport }] =
    await Promise.all([import('@modelcontextprotocol/server'), import('@modelcontextprotocol/server/stdio')]);
  const log = createMcpLog(io);
  const identity = createServerIdentity(readVersion(), rings);
  // What a client sends back with a form is checked, so that it names a decision of this process.
  const formStates = createRequestStateCodec<FormState>({ key: randomBytes(32) });
  const closing = new AbortController();
  const deliveries = new Map<string | number, ResultDelivery>();
  let connected: Server | null = null;
  let following: Promise<void> | null = null;

  const follower = createInboxFollower(io, {
    bell: rings
      ? createChannelBell(io, ({ persona, count, text }) =>
          notify(`notifications/${CHANNEL}`, { content: text, meta: { persona, count: String(count) } }),
        )
      : null,
    changed: (persona) => notify('notifications/resources/updated', { uri: formatInboxUri(persona) }),
  });

  const wire = createWire(
    new StdioServerTransport(),
    { greetedId: getGreetedId(), hasDiscovery: !rings },
    {
      subscribed(uris) {
        for (const uri of uris) subscribe(uri);
      },
      answered: (id) => finish(id, 'written'),
      failed: (id) => finish(id, 'lost'),
      closed: () => closing.abort(),
      refused: (reason) => log.warn(`the client was greeted, and the library refused it: ${reason}`),
    },
  );

  /** A result is delivered once: `written` when all of it was passed on, `lost` when it was not. */
  function finish(id: string | number, end: keyof ResultDelivery): void {
    const delivery = deliveries.get(id);
    deliveries.delete(id);
    delivery?.[end]();
  }

  function startFollowing(): void {
    following ??= follower.run(closing.signal).catch((error: unknown) => {
      log.warn(`changes are not noticed any more: ${formatError(error)}`);
    });
  }

  /** Returns whether changes of this resource are reported. */
  function subscribe(uri: string): boolean {
    const persona = parseInboxUri(uri);
    if (persona === null) return false;
    follower.add(persona);
    startFollowing();
    return true;
  }

  function notify(method: string, params: Record<string, unknown>): void {
    // The channel is no notification of the protocol, so its types do not know it.
    connected?.notification({ method, params } as never).catch((error: unknown) => log.warn(formatError(error)));
  }

  function createServer({ era }: { readonly era: string }): Server {
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
    connected = server;
    // A client that is not ready yet would miss a ring.
    if (rings) server.oninitialized = startFollowing;
    server.setRequestHandler('tools/list', () => ({ tools: TOOLS as unknown as Tool[] }));
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      const { id, signal } = context.mcpReq;
      try {
        const given = parseToolArguments(params.name, params.arguments);
        const thread = findCallThread(context);
        const forms = era === 'modern' ? findReturnedForms(context) : findAskedForms(server, context);
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
        return { content: [{ type: 'text', text: formatError(error) }], isError: true };
      }
    });
    server.setRequestHandler('prompts/list', () => ({ prompts: [{ ...PROMPT }] }));
    server.setRequestHandler('prompts/get', ({ params }) => {
      if (params.name !== PROMPT.name)
        throw new Error(`there is no prompt ${params.name}: there is only ${PROMPT.name}`);
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
    server.setRequestHandler('resources/subscribe', ({ params: { uri } }) => {
      if (!subscribe(uri)) throw new ResourceNotFoundError(uri);
      return {};
    });
    server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
      follower.remove(parseInboxUri(uri) ?? '');
      return {};
    });
    return server;
  }

  function deliver(id: string | number, delivery: ResultDelivery, signal: AbortSignal): void {
    deliveries.set(id, delivery);
    if (signal.aborted) finish(id, 'lost');
    signal.addEventListener('abort', () => finish(id, 'lost'), { once: true });
  }

  const served = serveStdio(createServer, {
    transport: wire as Transport,
    onerror: (error) => log.warn(formatError(error)),
  });
  createStopSignal().addEventListener('abort', () => void served.close(), { once: true });
  await new Promise<void>((resolve) => {
    if (closing.signal.aborted) resolve();
    closing.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  for (const id of [...deliveries.keys()]) finish(id, 'lost');
  await following;
  leaveSoon();
  return 0;
}

/** Codex names its thread in each call, because one server serves many threads. */
function findCallThread({ mcpReq }: ServerContext): string | null {
  const { _meta: meta } = mcpReq as { readonly _meta?: Readonly<Record<string, unknown>> };
  const thread = meta?.thread_id ?? meta?.threadId;
  return typeof thread === 'string' && thread !== '' ? thread : null;
}

/** The key of the form in a result. */
const FORM = 'form';
/** How long a client may show a form. The call ends it before that. */
const FORM_REQUEST_MS = 600_000;

interface FormState {
  readonly decision: number;
}

/** A client that says nothing of kinds of forms offers fields. */
function takesForms(capabilities: ClientCapabilities | undefined): boolean {
  const elicitation = capabilities?.elicitation;
  return elicitation !== undefined && (Object.keys(elicitation).length === 0 || 'form' in elicitation);
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

function createProgress({ mcpReq }: ServerContext): ((seconds: number, total: number) => Promise<void>) | null {
  const { _meta: meta } = mcpReq as { readonly _meta?: Readonly<Record<string, unknown>> };
  const progressToken = meta?.progressToken;
  if (typeof progressToken !== 'string' && typeof progressToken !== 'number') return null;
  return (progress, total) =>
    mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total } });
}

/** The message of a fault says what to do. The next step of its code is for the person at the command line. */
function formatError(error: unknown): string {
  if (error instanceof Fault) return error.code === 'usage' ? error.message : error.explain();
  return error instanceof Error ? error.message : String(error);
}
