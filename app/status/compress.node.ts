import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { constants, createGzip, deflateRawSync, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** A shorter answer is not compressed. */
const LEAST_BYTES = 1024;
/** Fast, and a third larger than the best. Nothing here travels farther than to this machine. */
const LEVEL = 3;
const gzipAsync = promisify(gzip);

/** Returns whether an `Accept-Encoding` header allows gzip (RFC 9110, 12.5.3). */
export function acceptsGzip(header: string | undefined): boolean {
  const codings = (header ?? '').split(',').map((coding) =>
    coding
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/),
  );
  const q = (name: string): number | null => {
    const found = codings.find(([coding]) => coding === name);
    return found === undefined ? null : Number(found[1]?.replace(/^q=/, '') ?? 1);
  };
  return (q('gzip') ?? q('*') ?? 0) > 0;
}

/** Compresses the answers of the routes whose configuration has `compresses`. What stays the same is compressed once. */
export function compressAnswers(app: FastifyInstance): void {
  const known = new WeakMap<Buffer, Promise<Buffer>>();
  const compress = (body: Buffer): Promise<Buffer> => {
    const compressed = known.get(body) ?? gzipAsync(body, { level: LEVEL });
    known.set(body, compressed);
    return compressed;
  };
  app.addHook('onSend', async (request, reply, payload) => {
    if (request.routeOptions.config.compresses === undefined) return payload;
    void reply.header('Vary', 'Accept-Encoding');
    if (request.method !== 'GET' || reply.statusCode !== 200) return payload;
    if (!acceptsGzip(String(request.headers['accept-encoding'] ?? ''))) return payload;
    if (payload instanceof Readable) {
      markCompressed(reply);
      // Each part is on its way before the next is made.
      return payload.pipe(createGzip({ level: LEVEL, flush: constants.Z_SYNC_FLUSH }));
    }
    const body = typeof payload === 'string' ? Buffer.from(payload) : payload;
    if (!(body instanceof Buffer) || body.length < LEAST_BYTES) return payload;
    markCompressed(reply);
    return await compress(body);
  });
}

/** The ETag stays, because it names the content in either form, and nothing serves parts of a form. */
function markCompressed(reply: FastifyReply): void {
  void reply.header('Content-Encoding', 'gzip').removeHeader('Content-Length');
}

/** What a stream in gzip begins with (RFC 1952, 2.3): deflate, no name, no time, any system. */
export const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** A longer message is compressed less, because everything else waits for it. */
const LONG_CHARS = 64 * 1024;

/**
 * Creates the encoder of messages in streams. Each message is compressed by itself, so all readers share its bytes, and no reader
 * costs memory. A message that is not open is put into the stream as it is.
 */
export function createMessageEncoder(): (text: string, isOpen: boolean) => Buffer {
  let last: { readonly text: string; readonly bytes: Buffer } = { text: '', bytes: Buffer.alloc(0) };
  return (text, isOpen) => {
    if (!isOpen) return deflate(text, 0);
    if (last.text !== text) last = { text, bytes: deflate(text, text.length > LONG_CHARS ? 1 : LEVEL) };
    return last.bytes;
  };
}

function deflate(text: string, level: number): Buffer {
  return deflateRawSync(text, { level, finishFlush: constants.Z_SYNC_FLUSH });
}
