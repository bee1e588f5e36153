import type { StatusWire } from '../app/status/wire.ts';
import { ask } from './token.ts';

/**
 * The server sends something at least every 15 s. A connection that is silent for this long is dead, whatever the system reports.
 */
const DEAD_MS = 35_000;

/**
 * Yields the `status` messages of the stream until it ends. It uses `fetch`, since an `EventSource` cannot send the token.
 * @throws TokenNeededError, or the error that prevented, cut off or silenced the stream
 */
export async function* streamStatuses(signal: AbortSignal): AsyncGenerator<StatusWire> {
  const silence = new AbortController();
  const wait = (): number => window.setTimeout(() => silence.abort(), DEAD_MS);
  let timer = wait();
  try {
    const { body } = await ask('/api/v1/stream', AbortSignal.any([signal, silence.signal]));
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ''; ; ) {
      const read = await reader?.read();
      if (read?.value === undefined) return;
      window.clearTimeout(timer);
      timer = wait();
      const messages = (rest + read.value).split('\n\n');
      rest = messages.pop() ?? '';
      for (const message of messages) {
        const data = /^event: status\ndata: (.*)$/.exec(message)?.[1];
        if (data !== undefined) yield JSON.parse(data) as StatusWire;
      }
    }
  } finally {
    window.clearTimeout(timer);
  }
}
