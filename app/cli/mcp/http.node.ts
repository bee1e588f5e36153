import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { Io } from '../../../core/command/index.ts';
import type { Log } from '../../../core/ports/index.ts';
import { readVersion } from '../../package.node.ts';
import type { McpAnswer, McpHttp } from '../../status/index.ts';
import { createServerIdentity } from '../mcp-greeting.ts';
import type { FormState } from './forms.ts';
import { createProtocolServer, formatMcpError } from './protocol.ts';
import type { ResultDelivery } from './tool-call.ts';

/**
 * Loads what answers the protocol over HTTP. Each request has a server of its own, so nothing is held between two requests, and
 * both revisions are answered.
 */
export async function openMcpHttp({ env }: Pick<Io, 'env'>, log: Log): Promise<McpHttp> {
  const { createMcpHandler, createRequestStateCodec, ResourceNotFoundError, Server } = await import(
    '@modelcontextprotocol/server'
  );
  const formStates = createRequestStateCodec<FormState>({ key: randomBytes(32) });
  const { info, capabilities } = createServerIdentity(readVersion(), false);
  // Changes are not reported over HTTP: that would take a stream that is held open for each client.
  const identity = { info, capabilities: { ...capabilities, resources: { subscribe: false } } };

  return {
    async answer({ persona, method, headers, body, signal }): Promise<McpAnswer> {
      const deliveries: ResultDelivery[] = [];
      const io = createCallerIo(env, persona, log);
      const deliver = (_id: string | number, delivery: ResultDelivery): void => void deliveries.push(delivery);
      const handler = createMcpHandler(
        ({ era }) =>
          createProtocolServer({ ResourceNotFoundError, Server }, { io, identity, era, formStates, deliver }),
        { maxSubscriptions: 0, onerror: (error) => log.warn(`hivebar mcp over HTTP: ${formatMcpError(error)}`) },
      );
      const request = new Request('http://localhost/mcp', { method, headers: toHeaders(headers), signal });
      const response = await handler.fetch(request, { parsedBody: body });
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: response.body === null ? null : Readable.fromWeb(response.body as ReadableStream),
        ended(isWritten) {
          for (const delivery of deliveries.splice(0)) {
            if (isWritten) delivery.written();
            else delivery.lost();
          }
          void handler.close();
        },
      };
    },
  };
}

/** The persona is that of the request, and never one that the tray process was started with. */
function createCallerIo(env: Io['env'], persona: string, log: Log): Io {
  const unknown = { HIVEBAR_SESSION: undefined, CLAUDE_CODE_SESSION_ID: undefined, CODEX_THREAD_ID: undefined };
  return {
    env: { ...env, ...unknown, HIVEBAR_PERSONA: persona },
    out: () => {},
    err: (text) => log.warn(text.trimEnd()),
    input: async () => '',
  };
}

function toHeaders(headers: Readonly<Record<string, string | readonly string[] | undefined>>): Headers {
  const own = new Headers();
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) own.set(name, typeof value === 'string' ? value : value.join(', '));
  return own;
}
