import type { StatusWire } from '../app/status/wire.ts';
import { ask } from './token.ts';

/**
 * The `status` messages of the stream, until it ends. By `fetch`, since an `EventSource` can not send the token.
 * @throws TokenNeeded, or whatever kept it from being opened or cut it off
 */
export async function* statuses(signal: AbortSignal): AsyncGenerator<StatusWire> {
  const { body } = await ask('/api/v1/stream', signal);
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ''; ; ) {
    const read = await reader?.read();
    if (read?.value === undefined) return;
    const messages = (rest + read.value).split('\n\n');
    rest = messages.pop() ?? '';
    for (const message of messages) {
      const data = /^event: status\ndata: (.*)$/.exec(message)?.[1];
      if (data !== undefined) yield JSON.parse(data) as StatusWire;
    }
  }
}
