import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** A part of an answer of the model. */
export type Block =
  | { readonly text: string }
  /** `namespace`: of a tool of Codex that belongs to an MCP server. */
  | { readonly tool: string; readonly input: object; readonly namespace?: string }
  /** In place of an answer: the status of HTTP, and why. */
  | { readonly fails: number; readonly error: { readonly type: string; readonly message: string } };

/** A request to the model, as far as an answer hangs on it. */
export interface Ask {
  /** All that came since the model said something. */
  readonly fresh: string;
  /** What the conversation began with. */
  readonly first: string;
  readonly tools: readonly string[];
}

/** Null: it says `ok`. */
type Answer = readonly Block[] | null;

export interface ModelServer extends AsyncDisposable {
  readonly url: string;
  readonly asks: readonly Ask[];
}

/**
 * A model that says what a test wants, on loopback: the messages API of Anthropic, the responses and the chat API of OpenAI, and
 * the API of Gemini, as a stream.
 * @param answer an answer that takes its time keeps the agent in its turn
 */
export async function modelServer(answer: (ask: Ask) => Answer | Promise<Answer>): Promise<ModelServer> {
  const asks: Ask[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const path = (request.url ?? '').split('?')[0] ?? '';
      const body = chunks.length === 0 ? {} : (JSON.parse(Buffer.concat(chunks).toString('utf8')) as Body);
      if (path.endsWith('/count_tokens')) return json(response, { input_tokens: 10 });
      const api = APIS.find(({ ending }) => path.endsWith(ending));
      if (api === undefined) return json(response, { object: 'list', data: [], models: [] });
      const ask = askIn(body, api.parts(body));
      // What has no tools is a title or a summary, and no turn of the agent.
      if (ask.tools.length > 0) asks.push(ask);
      const blocks = (ask.tools.length === 0 ? null : await answer(ask)) ?? [{ text: 'ok' }];
      const [first] = blocks;
      if (first !== undefined && 'fails' in first) {
        const { fails, error } = first;
        response.writeHead(fails, { 'content-type': 'application/json' });
        return void response.end(JSON.stringify({ type: 'error', error }));
      }
      const spoken = blocks.filter((block): block is SpokenBlock => !('fails' in block));
      api.say(response, body.model ?? 'm', spoken, asks.length, body.stream === true);
    });
  });
  // For programs that send everything through their proxy: it leads to this machine and nowhere else.
  server.on('connect', ({ url = '' }, socket: Socket) => {
    socket.on('error', () => socket.destroy());
    const [host, port] = url.split(':');
    if (host !== '127.0.0.1') return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    const inner = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      inner.pipe(socket).pipe(inner);
    });
    inner.on('error', () => socket.destroy());
    socket.on('error', () => inner.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asks,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type SpokenBlock = Exclude<Block, { readonly fails: number }>;
type Say = (
  response: ServerResponse,
  model: string,
  blocks: readonly SpokenBlock[],
  n: number,
  isStream: boolean,
) => void;

const APIS: readonly { readonly ending: string; parts(body: Body): readonly Part[]; readonly say: Say }[] = [
  { ending: '/messages', parts: ({ messages = [] }) => messages, say: sayAnthropic },
  { ending: '/responses', parts: ({ input = [] }) => input, say: sayOpenAi },
  { ending: '/chat/completions', parts: ({ messages = [] }) => messages, say: sayChat },
  { ending: ':streamGenerateContent', parts: ({ contents = [] }) => contents.map(toPart), say: sayGemini },
  { ending: ':generateContent', parts: ({ contents = [] }) => contents.map(toPart), say: sayGemini },
];

interface Part {
  readonly role?: string;
  readonly type?: string;
  readonly text?: string;
  readonly content?: Content;
  readonly output?: Content;
}
type Content = string | readonly Part[];
interface Body {
  readonly model?: string;
  readonly stream?: boolean;
  readonly tools?: readonly ToolEntry[];
  readonly messages?: readonly Part[];
  readonly input?: readonly Part[];
  readonly contents?: readonly GeminiContent[];
}
interface ToolEntry {
  readonly name?: string;
  readonly type?: string;
  readonly function?: { readonly name: string };
  readonly functionDeclarations?: readonly { readonly name: string }[];
}
interface GeminiContent {
  readonly role?: string;
  readonly parts?: readonly { readonly text?: string; readonly functionResponse?: { readonly response?: unknown } }[];
}

const toPart = ({ role = '', parts = [] }: GeminiContent): Part => ({
  role: role === 'model' ? 'assistant' : role,
  content: parts.map(({ text, functionResponse }) => ({
    text: text ?? JSON.stringify(functionResponse?.response ?? ''),
  })),
});

const nameTools = (tool: ToolEntry): readonly string[] =>
  tool.functionDeclarations?.map(({ name }) => name) ?? [tool.name ?? tool.function?.name ?? tool.type ?? ''];

const BY_MODEL: ReadonlySet<string | undefined> = new Set(['function_call', 'custom_tool_call', 'reasoning']);

function askIn(body: Body, parts: readonly Part[]): Ask {
  const printed = parts.findLastIndex((part) => part.role === 'assistant' || BY_MODEL.has(part.type));
  const first = parts.find((part) => part.role === 'user');
  return {
    fresh: parts
      .slice(printed + 1)
      .map(textIn)
      .join('\n'),
    first: first === undefined ? '' : textIn(first),
    tools: (body.tools ?? []).flatMap(nameTools),
  };
}

function textIn({ text, content, output }: Part): string {
  if (text !== undefined) return text;
  const inner = content ?? output ?? '';
  return typeof inner === 'string' ? inner : inner.map(textIn).join('\n');
}

function json(response: ServerResponse, value: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function stream(response: ServerResponse, events: readonly (readonly [type: string, data: object])[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [type, data] of events) response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  response.end();
}

function sayAnthropic(response: ServerResponse, model: string, blocks: readonly SpokenBlock[], n: number): void {
  const stop_reason = blocks.some((block) => 'tool' in block) ? 'tool_use' : 'end_turn';
  const usage = { input_tokens: 10, output_tokens: 1 };
  const message = {
    id: `msg_${n}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  };
  stream(response, [
    ['message_start', { message }],
    ...blocks.flatMap((block, index): (readonly [string, object])[] => {
      const isTool = 'tool' in block;
      const empty = isTool
        ? { type: 'tool_use', id: `toolu_${n}_${index}`, name: block.tool, input: {} }
        : { type: 'text', text: '' };
      const delta = isTool
        ? { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }
        : { type: 'text_delta', text: block.text };
      return [
        ['content_block_start', { index, content_block: empty }],
        ['content_block_delta', { index, delta }],
        ['content_block_stop', { index }],
      ];
    }),
    ['message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 5 } }],
    ['message_stop', {}],
  ]);
}

function sayOpenAi(response: ServerResponse, model: string, blocks: readonly SpokenBlock[], n: number): void {
  const output = blocks.map((block, at) =>
    'tool' in block
      ? {
          type: 'function_call',
          id: `fc_${n}_${at}`,
          call_id: `call_${n}_${at}`,
          name: block.tool,
          ...(block.namespace === undefined ? {} : { namespace: block.namespace }),
          arguments: JSON.stringify(block.input),
          status: 'completed',
        }
      : {
          type: 'message',
          id: `msg_${n}_${at}`,
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: block.text, annotations: [] }],
        },
  );
  const none = { input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } };
  const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15, ...none };
  const whole = { id: `resp_${n}`, object: 'response', created_at: 1, model, status: 'completed', output, usage };
  stream(response, [
    ['response.created', { response: { ...whole, status: 'in_progress', output: [], usage: null } }],
    ...output.flatMap((item, output_index): (readonly [string, object])[] => [
      ['response.output_item.added', { output_index, item: { ...item, status: 'in_progress' } }],
      ['response.output_item.done', { output_index, item }],
    ]),
    ['response.completed', { response: whole }],
  ]);
}

function sayChat(
  response: ServerResponse,
  model: string,
  blocks: readonly SpokenBlock[],
  n: number,
  isStream: boolean,
): void {
  const tool_calls = blocks.flatMap((block, index) =>
    'tool' in block
      ? [
          {
            index,
            id: `call_${n}_${index}`,
            type: 'function',
            function: { name: block.tool, arguments: JSON.stringify(block.input) },
          },
        ]
      : [],
  );
  const content = blocks.map((block) => ('text' in block ? block.text : '')).join('');
  const message = { role: 'assistant', content, ...(tool_calls.length > 0 && { tool_calls }) };
  const finish_reason = tool_calls.length > 0 ? 'tool_calls' : 'stop';
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const head = { id: `chat_${n}`, created: 1, model };
  if (!isStream) {
    json(response, { ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason }], usage });
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const choice of [
    { index: 0, delta: message, finish_reason: null },
    { index: 0, delta: {}, finish_reason },
  ])
    response.write(
      `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [choice], usage })}\n\n`,
    );
  response.end('data: [DONE]\n\n');
}

function sayGemini(response: ServerResponse, modelVersion: string, blocks: readonly SpokenBlock[], _n: number): void {
  const parts = blocks.map((block) =>
    'tool' in block ? { functionCall: { name: block.tool, args: block.input } } : { text: block.text },
  );
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };
  const candidates = [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }];
  const answer = { candidates, usageMetadata, modelVersion };
  const isStream = response.req.url?.includes(':streamGenerateContent') === true;
  if (!isStream) json(response, answer);
  else response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${JSON.stringify(answer)}\n\n`);
}
