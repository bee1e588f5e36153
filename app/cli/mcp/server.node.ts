import { randomBytes } from 'node:crypto';
import type { Server, Transport } from '@modelcontextprotocol/server';
import type { Io } from '../../../core/command/index.ts';
import { readVersion } from '../../package.node.ts';
import { getGreetedId } from '../mcp-greet.node.ts';
import { CHANNEL, createServerIdentity } from '../mcp-greeting.ts';
import { createStopSignal, leaveSoon } from '../process.node.ts';
import { createChannelBell } from './channel.ts';
import type { FormState } from './forms.ts';
import { createProtocolServer, formatMcpError } from './protocol.ts';
import { createInboxFollower } from './resources.ts';
import { createMcpLog, type ResultDelivery } from './tool-call.ts';
import { formatInboxUri, parseInboxUri } from './tools.ts';
import { createWire } from './wire.node.ts';

export interface McpServerOptions {
  /** Rings for the channel mode of Claude Code. */
  readonly rings: boolean;
}

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
      log.warn(`changes are not noticed any more: ${formatMcpError(error)}`);
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
    connected?.notification({ method, params } as never).catch((error: unknown) => log.warn(formatMcpError(error)));
  }

  function createServer({ era }: { readonly era: string }): Server {
    const server = createProtocolServer({ ResourceNotFoundError, Server }, { io, identity, era, formStates, deliver });
    connected = server;
    // A client that is not ready yet would miss a ring.
    if (rings) server.oninitialized = startFollowing;
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
    onerror: (error) => log.warn(formatMcpError(error)),
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
