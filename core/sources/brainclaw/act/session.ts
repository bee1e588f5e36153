import type { Transport } from '@modelcontextprotocol/client';
import { Fault, parseJson } from '../../../model/index.ts';
import type { Clock, Log } from '../../../ports/index.ts';
import { type ServerCommand, type ServerEnd, type ServerProcess, startServer } from './server.node.ts';

interface SessionOptions {
  readonly command: ServerCommand;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  /** The time limit for the greeting and for each call, in milliseconds. */
  readonly callMs: number;
  /** How long the server may take to end after it was asked to, in milliseconds. */
  readonly killMs: number;
}

export interface ToolAnswer {
  /** The structured part, for programs; null when there is none. */
  readonly structured: unknown;
  /** The text part, for people. */
  readonly text: string;
}

/** A session with the server of one project, after the greeting. */
export interface McpSession {
  readonly pid: number;
  /** Resolves when the server has ended, whoever ended it. */
  readonly ended: Promise<ServerEnd>;
  /** @throws Fault `brainclaw-refused` for an error that the server returns, `brainclaw-gone` when it returns nothing */
  call(call: McpToolCall, signal: AbortSignal): Promise<ToolAnswer>;
  /** Resolves when the process has ended: by SIGTERM, or by SIGKILL after `killMs`. */
  close(): Promise<void>;
}

/** This name tells a server that the caller is no agent (observer protocol 8). */
export const CLIENT_NAME = 'brainclaw-observer/hivebar';

const MOST_SHOWN_CHARS = 300;
/** Longer than any call may take, because our own clock sets the limit. */
const NEVER_MS = 2 ** 31 - 1;

/**
 * Starts a server and greets it.
 * @param signal ends the server while the greeting is not done
 * @throws Fault `brainclaw-missing` when it cannot be started, `brainclaw-gone` when it does not greet back; and the reason of
 * `signal`
 */
export async function openSession(options: SessionOptions, signal: AbortSignal): Promise<McpSession> {
  const { command, clock, log, callMs } = options;
  // Loaded only with the first call: it takes nearly 30 MiB, which a program that only watches does not need.
  const { Client } = await import('@modelcontextprotocol/client');
  const router = createLineRouter(log, command.cwd);
  const server = await openServer(command, router.line);
  let end: ServerEnd | null = null;
  // This is our own transport: the package's waits longer before it ends a server, and not until it has ended.
  const transport: Transport = {
    start: async () => router.to((message) => transport.onmessage?.(message as never)), // the client checks each message itself
    send: async (message) => server.send(JSON.stringify(message)),
    close: async () => await closeServer(server, options),
  };
  const ended = server.ended.then((over) => {
    end = over;
    transport.onclose?.();
    return over;
  });
  const client = new Client({ name: CLIENT_NAME, version: options.version }, { capabilities: {} });

  const runRequest = async <T>(
    requestName: string,
    signal: AbortSignal,
    ask: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    using stack = new DisposableStack();
    const late = new AbortController();
    stack.use(clock.after(callMs, () => late.abort()));
    try {
      return await ask(AbortSignal.any([signal, late.signal]));
    } catch (error) {
      signal.throwIfAborted();
      const where = `brainclaw mcp in ${command.cwd}`;
      if (end !== null)
        throw createGoneFault(`${where}: ${formatServerEnd(end)} before it answered ${requestName}`, error);
      if (late.signal.aborted)
        throw createGoneFault(
          `${where} has not answered ${requestName} within ${callMs / 1000} s${router.junk}`,
          error,
        );
      const errorText = error instanceof Error ? error.message : String(error);
      throw createRefusedFault(`${requestName}: ${toSingleLine(errorText)}`, error);
    }
  };

  try {
    await runRequest('the greeting', signal, (until) =>
      client.connect(transport, { signal: until, timeout: NEVER_MS }),
    );
  } catch (error) {
    await closeServer(server, options);
    throw error instanceof Fault && error.code === 'brainclaw-refused' ? createGoneFault(error.message, error) : error;
  }
  return {
    pid: server.pid,
    ended,
    async call(call, until) {
      const requestName = toSingleLine(formatToolCall(call));
      const params = { name: call.tool, arguments: { ...call.arguments } };
      const result = await runRequest(requestName, until, (by) =>
        client.callTool(params, { signal: by, timeout: NEVER_MS }),
      );
      const text = formatContent(result.content);
      if (result.isError === true)
        throw createRefusedFault(`${requestName}: ${toSingleLine(text) || 'an error without a message'}`);
      return { structured: result.structuredContent ?? parseOrNull(text), text };
    },
    close: () => closeServer(server, options),
  };
}

async function openServer(command: ServerCommand, onLine: (line: string) => void): Promise<ServerProcess> {
  try {
    return await startServer(command, onLine);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const message = `${[command.file, ...command.args].join(' ')} cannot be started in ${command.cwd}: ${why}`;
    throw new Fault('brainclaw-missing', message, SCOPE, { cause: error });
  }
}

/** Ends a server by its own pid. A second call only waits. */
async function closeServer(server: ServerProcess, { clock, killMs }: SessionOptions): Promise<void> {
  using stack = new DisposableStack();
  stack.use(clock.after(killMs, () => server.kill('SIGKILL')));
  server.hangUp();
  server.kill('SIGTERM');
  await server.exited;
}

/** Sorts the lines that a server prints: messages are passed on, and anything else is counted for the error text. */
function createLineRouter(log: Log, root: string) {
  let take: (message: object) => void = () => {};
  let junk = 0;
  let last = '';
  return {
    to(taker: (message: object) => void): void {
      take = taker;
    },
    line(line: string): void {
      if (line.trim() === '') return;
      const message = parseOrNull(line);
      if (isMessage(message)) {
        take(message);
        return;
      }
      junk += 1;
      last = toSingleLine(line);
      if (junk === 1) log.warn(`brainclaw mcp in ${root} printed a line that is not a message and is ignored: ${last}`);
    },
    get junk(): string {
      return junk === 0
        ? ''
        : `, but printed ${junk} lines that are not messages, the last of them ${JSON.stringify(last)}`;
    },
  };
}

const isMessage = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0';

function parseOrNull(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return null; // it is no JSON: the caller decides what that means
  }
}

function formatContent(content: readonly { readonly type: string; readonly text?: unknown }[]): string {
  return content
    .flatMap((part) => (part.type === 'text' && typeof part.text === 'string' ? [part.text] : []))
    .join('\n');
}

/** The text as a single line, cut. */
function toSingleLine(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  return line.length <= MOST_SHOWN_CHARS ? line : `${line.slice(0, MOST_SHOWN_CHARS - 1).toWellFormed()}…`;
}

const formatServerEnd = ({ how, stderr }: ServerEnd): string =>
  stderr === '' ? how : `${how}, with ${toSingleLine(stderr)} on stderr,`;

const SCOPE = { is: 'machine', key: 'brainclaw-action' } as const;
const createGoneFault = (message: string, cause: unknown): Fault =>
  new Fault('brainclaw-gone', message, SCOPE, { cause });
const createRefusedFault = (message: string, cause?: unknown): Fault =>
  new Fault('brainclaw-refused', message, SCOPE, { cause });

/** One call of a tool of brainclaw's server. */
export interface McpToolCall {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, string | boolean>>;
}

/** A call as text that a person reads and copies: `bclaw_transition {"entity":"candidate",...}`. */
export const formatToolCall = ({ tool, arguments: args }: McpToolCall): string => `${tool} ${JSON.stringify(args)}`;

/** The call that asks for `board_summary`. It reads and changes nothing (observer protocol 6.1). */
export const BOARD_SUMMARY: McpToolCall = { tool: 'bclaw_context', arguments: { kind: 'board_summary' } };
