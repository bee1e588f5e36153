import type { ServerResponse } from 'node:http';

/** How an answer goes wrong. */
export type HiveFault =
  /** Accepts, reads, never answers. */
  | { readonly is: 'hang' }
  /** Answers after `ms`. */
  | { readonly is: 'slow'; readonly ms: number }
  /** Sends one byte of the body every `everyMs` (200). */
  | { readonly is: 'drip'; readonly everyMs?: number }
  /** Announces more bytes than it sends, then closes. */
  | { readonly is: 'truncated' }
  | { readonly is: 'garbage' }
  | { readonly is: 'bad-chunk' }
  | { readonly is: 'reset' }
  | { readonly is: 'status'; readonly status: number }
  | { readonly is: 'redirect'; readonly to: string }
  /** This body instead, with status 200. */
  | { readonly is: 'body'; readonly body: string | Buffer; readonly headers?: Readonly<Record<string, string>> }
  /** A body of so many bytes, sent in pieces and without a length. */
  | { readonly is: 'huge'; readonly bytes: number }
  /** The right answer, changed on its way out. */
  | { readonly is: 'edit'; readonly edit: (answer: Record<string, unknown>, url: URL) => unknown };

export function send(response: ServerResponse, answer: unknown): void {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(answer));
}

export function plain(response: ServerResponse, status: number): void {
  response.statusCode = status;
  response.end(status === 204 || status === 304 ? undefined : `status ${status}\n`);
}

type Later = (ms: number, run: () => void) => unknown;

/** Answers in the way of `fault`; `body` is what the right answer would have been. */
export function breakAnswer(
  fault: Exclude<HiveFault, { is: 'edit' }>,
  response: ServerResponse,
  body: () => string,
  later: Later,
): void {
  const socket = response.socket;
  switch (fault.is) {
    case 'hang':
      return;
    case 'slow':
      later(fault.ms, () => send(response, JSON.parse(body())));
      return;
    case 'drip': {
      const bytes = Buffer.from(body());
      response.setHeader('content-length', bytes.length);
      const next = (at: number): void => {
        if (response.destroyed) return;
        if (at >= bytes.length) return void response.end();
        response.write(bytes.subarray(at, at + 1));
        later(fault.everyMs ?? 200, () => next(at + 1));
      };
      next(0);
      return;
    }
    case 'truncated': {
      const bytes = Buffer.from(body());
      response.writeHead(200, { 'content-length': bytes.length + 100, 'content-type': 'application/json' });
      response.write(bytes, () => socket?.end());
      return;
    }
    case 'garbage':
      socket?.end('NONSENSE 200 what\r\n\r\n{"result": []}');
      return;
    case 'bad-chunk':
      socket?.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{"result": []}\r\n0\r\n\r\n');
      return;
    case 'reset':
      socket?.resetAndDestroy();
      return;
    case 'status':
      plain(response, fault.status);
      return;
    case 'redirect':
      response.writeHead(302, { location: fault.to });
      response.end();
      return;
    case 'body':
      response.writeHead(200, { 'content-type': 'application/json', ...fault.headers });
      response.end(fault.body);
      return;
    case 'huge': {
      response.writeHead(200, { 'content-type': 'application/json' });
      const piece = Buffer.alloc(64 * 1024, 0x20);
      let left = fault.bytes;
      const more = (): void => {
        while (left > 0) {
          if (response.destroyed) return;
          left -= piece.length;
          if (!response.write(piece)) return void response.once('drain', more);
        }
        response.end();
      };
      more();
      return;
    }
  }
}
