import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/server';

/** What the server learns from the messages that pass. */
interface WireListener {
  /** A client of 2026-07-28 listens to these resources. */
  subscribed(uris: readonly string[]): void;
  /** The answer to this request was written. */
  answered(id: string | number): void;
  /** The answer to this request could not be written. */
  failed(id: string | number): void;
  closed(): void;
  /** The library answered the greeting with an error, after the client had its answer. */
  refused(reason: string): void;
}

/**
 * Wraps the transport of the library, whose `send` resolves before the system accepted the bytes.
 * @param greetedId the request whose answer the client has already; null: none
 * @param hasDiscovery whether the revision without a handshake is served
 */
export function createWire(
  inner: Transport,
  { greetedId, hasDiscovery }: { readonly greetedId: string | number | null; readonly hasDiscovery: boolean },
  listener: WireListener,
): Transport {
  let unanswered = greetedId;
  const wire: Transport = {
    async start() {
      inner.onmessage = (message, extra) => {
        if (!hasDiscovery && 'method' in message && message.method === DISCOVERY && 'id' in message)
          return void write(`${formatRefusal(message.id)}\n`).catch((error: Error) => wire.onerror?.(error));
        const uris = findSubscribedUris(message);
        if (uris.length > 0) listener.subscribed(uris);
        wire.onmessage?.(message, extra);
      };
      inner.onerror = (error) => wire.onerror?.(error);
      inner.onclose = () => {
        wire.onclose?.();
        listener.closed();
      };
      await inner.start();
      process.stdin.resume(); // whoever read the greeting has paused it
    },
    async send(message: JSONRPCMessage, _options?: TransportSendOptions) {
      const id = 'id' in message && !('method' in message) ? (message.id ?? null) : null;
      if (id !== null && id === unanswered) {
        unanswered = null;
        if ('error' in message) listener.refused(message.error.message);
        return;
      }
      try {
        await write(`${JSON.stringify(message)}\n`);
      } catch (error) {
        if (id !== null) listener.failed(id);
        throw error;
      }
      if (id !== null) listener.answered(id);
    },
    close: () => inner.close(),
  };
  return wire;
}

const DISCOVERY = 'server/discover';
const METHOD_NOT_FOUND = -32601;

function formatRefusal(id: unknown): string {
  const message = `${DISCOVERY} is not served in the channel mode: begin with initialize`;
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: METHOD_NOT_FOUND, message } });
}

/** Resolves when the bytes were passed to the system. */
function write(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (error === null || error === undefined) resolve();
      else reject(error);
    });
  });
}

function findSubscribedUris(message: JSONRPCMessage): readonly string[] {
  if (!('method' in message) || message.method !== 'subscriptions/listen') return [];
  const { notifications } = (message.params ?? {}) as { readonly notifications?: unknown };
  const { resourceSubscriptions: uris } = (notifications ?? {}) as { readonly resourceSubscriptions?: unknown };
  return Array.isArray(uris) ? uris.filter((uri) => typeof uri === 'string') : [];
}
