import type { StatusWire } from '../app/status/wire.ts';
import { ask } from './token.ts';

/** The server says something at least every 15 s: a connection this silent is dead, whatever the system says of it. */
const DEAD_MS = 35_000;

/**
 * The `status` messages of the stream, until it ends. By `fetch`, since an `EventSource` cannot send the token.
 * @throws TokenNeeded, or whatever kept it from being opened, cut it off or silenced it
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
