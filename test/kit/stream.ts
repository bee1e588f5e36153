import { until } from './until.ts';

/** One server-sent event. */
export interface StreamMessage {
  readonly id: string | null;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** A reader of `/api/v1/stream` that keeps what it was sent, until it leaves its scope. */
export interface StreamReader extends AsyncDisposable {
  readonly messages: readonly StreamMessage[];
  /** Ids of the events so far, in their order. */
  readonly ids: readonly (string | null)[];
  until(goal: string, happened: (reader: StreamReader) => boolean, ms?: number): Promise<void>;
}

/** `since`: goes on after that event, as a client does that was cut. Resolves once it is answered. @throws unless it is 200 */
export async function readStream(
  url: string,
  { since, token }: { readonly since?: string; readonly token?: string } = {},
): Promise<StreamReader> {
  const stop = new AbortController();
  const headers = {
    ...(since === undefined ? {} : { 'last-event-id': since }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  const answer = await fetch(`${url}/api/v1/stream`, { headers, signal: stop.signal });
  if (answer.status !== 200) throw new Error(`the stream answered ${answer.status}: ${await answer.text()}`);
  const messages: StreamMessage[] = [];
  let cut: unknown = null;
  const reading = (async () => {
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of answer.body ?? []) {
      const blocks = (text + decoder.decode(chunk, { stream: true })).split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) messages.push(...parseMessage(block));
    }
  })().catch((error: unknown) => {
    if (!stop.signal.aborted) cut = error;
  });
  const reader: StreamReader = {
    messages,
    get ids() {
      return messages.filter(({ event }) => event === 'event').map(({ id }) => id);
    },
    until: (goal, happened, ms) =>
      until(
        () =>
          `${goal} on the stream (${cut === null ? 'open' : `cut: ${cut}`}):\n${JSON.stringify(messages).slice(-4000)}`,
        () => happened(reader),
        ms,
      ),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await reading;
    },
  };
  return reader;
}

/** None where a block holds no data: a comment that keeps the connection open. */
function parseMessage(block: string): StreamMessage[] {
  const fields = new Map(
    block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.replace(/^\w*: ?/, '')]),
  );
  const data = fields.get('data');
  if (data === undefined) return [];
  return [{ id: fields.get('id') ?? null, event: fields.get('event') ?? 'message', data: JSON.parse(data) }];
}
