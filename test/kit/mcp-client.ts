import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import {
  Client,
  type ElicitRequestFormParams,
  type ElicitResult,
  type Notification,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { programEntry } from './program.ts';
import type { TrayHome, TrayProcess } from './tray-process.ts';

/** The two revisions of the protocol, as the client of the makers of MCP begins them. */
export const ERAS = ['2025-11-25', '2026-07-28'] as const;
export type Era = (typeof ERAS)[number];

/** What a tool answered. */
export interface ToolAnswer {
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
}

/** The official client with `hivebar mcp` as its server. */
export interface McpClient extends ConnectedClient {
  readonly pid: number;
  readonly stderr: string;
}

/** The official client with a server. */
export interface ConnectedClient extends AsyncDisposable {
  readonly client: Client;
  /** Notifications that the client knows nothing of, and changes of resources. */
  readonly notifications: readonly Notification[];
  call(name: string, args?: object, options?: CallOptions): Promise<ToolAnswer>;
}

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { readonly progress: number }) => void;
  readonly meta?: Readonly<Record<string, unknown>>;
}

export interface McpClientOptions {
  readonly era?: Era;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly cwd?: string;
  /** The person at the client, who is shown a form. Left out: the client offers none. */
  readonly person?: (form: ElicitRequestFormParams, signal: AbortSignal) => Promise<ElicitResult>;
}

const WITHIN_MS = 60_000;

export async function connectMcp(home: TrayHome, options: McpClientOptions = {}): Promise<McpClient> {
  const { era = '2025-11-25', env = {}, args = [], cwd = home.home, person } = options;
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [programEntry('hivebar'), 'mcp', ...args],
    env: { ...home.env, ...env },
    stderr: 'pipe',
    cwd,
  });
  let stderr = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
  });
  const connected = await connectClient(transport, era, person);
  return {
    ...connected,
    pid: transport.pid ?? 0,
    get stderr() {
      return stderr;
    },
  };
}

/** The official client over HTTP, with the token of the tray process. */
export function connectMcpHttp(
  tray: TrayProcess,
  persona: string,
  era: Era,
  person?: McpClientOptions['person'],
): Promise<ConnectedClient> {
  const headers = { authorization: `Bearer ${tray.token}`, 'hivebar-persona': persona };
  const transport = new StreamableHTTPClientTransport(new URL(`${tray.url}/mcp`), { requestInit: { headers } });
  return connectClient(transport, era, person);
}

async function connectClient(
  transport: Transport,
  era: Era,
  person: McpClientOptions['person'],
): Promise<ConnectedClient> {
  const mode = era === '2025-11-25' ? 'legacy' : { pin: era };
  const capabilities = person === undefined ? {} : { elicitation: { form: {} } };
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode }, capabilities });
  if (person !== undefined)
    client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq: { signal } }) =>
      person(params as ElicitRequestFormParams, signal),
    );
  const notifications: Notification[] = [];
  client.fallbackNotificationHandler = async (notification) => void notifications.push(notification);
  client.setNotificationHandler('notifications/resources/updated', (notification) => {
    notifications.push(notification);
  });
  await client.connect(transport, { timeout: WITHIN_MS });
  return {
    client,
    notifications,
    async call(name, given = {}, { meta, ...more } = {}) {
      const params = { name, arguments: { ...given }, ...(meta === undefined ? {} : { _meta: { ...meta } }) };
      const { content, structuredContent, isError } = await client.callTool(params, { timeout: WITHIN_MS, ...more });
      const [first] = content;
      return {
        text: first?.type === 'text' ? first.text : '',
        data: (structuredContent ?? {}) as Record<string, unknown>,
        isError: isError === true,
      };
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** What the server wrote, one object per line. */
export interface McpLine {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

function startServer(home: TrayHome, args: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const env = { PATH: process.env.PATH, ...home.env, ...more };
  const child = spawn(process.execPath, [programEntry('hivebar'), 'mcp', ...args], {
    ...{ env, stdio: ['pipe', 'pipe', 'ignore'] },
  });
  child.stdin.on('error', () => {}); // it ended
  const ended = new Promise((resolve) => child.once('close', resolve));
  const write = (...messages: readonly object[]): void => {
    child.stdin.write(messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''));
  };
  return { child, ended, write };
}

/** Sends these requests at once to a server of its own, and returns its answers in the order of their ids. */
export async function talkMcp(
  home: TrayHome,
  args: readonly string[],
  requests: readonly object[],
): Promise<readonly McpLine[]> {
  const { child, ended, write } = startServer(home, args);
  write(...requests);
  const lines: McpLine[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(JSON.parse(line) as McpLine);
    if (lines.length === requests.length) break;
  }
  child.stdin.end();
  await ended;
  return lines.toSorted((a, b) => Number(a.id) - Number(b.id));
}

/** Has a server read mail whose client has closed its end of stdout, and waits until the server ended. */
export async function readWithoutReader(home: TrayHome, env: Readonly<Record<string, string>>): Promise<void> {
  const { child, ended, write } = startServer(home, [], env);
  const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  write({ id: 1, method: 'initialize', params: hello }, { id: 2, method: 'tools/list' });
  for await (const line of createInterface({ input: child.stdout })) if ((JSON.parse(line) as McpLine).id === 2) break;
  child.stdout.destroy();
  write({ id: 3, method: 'tools/call', params: { name: 'inbox_read', arguments: {} } });
  await ended;
}
