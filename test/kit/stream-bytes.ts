import { request } from 'node:http';
import { createGunzip } from 'node:zlib';
import { until } from './until.ts';

/** A reader of the stream as a tab of the page is one. It counts what comes over its connection. */
export interface CountingReader extends Disposable {
  /** Bytes of the body so far, as they were sent. */
  readonly bytes: number;
  /** Waits until the text that was sent since the last call fits. Returns how many bytes it took. */
  take(goal: string, fits: (text: string) => boolean): Promise<number>;
}

/** Opens `/api/v1/stream?events=false&status=changes` with the token, in gzip where `isGzip`. */
export function openCountingReader(port: number, token: string, isGzip: boolean): CountingReader {
  let [bytes, counted, text] = [0, 0, ''];
  const headers = { authorization: `Bearer ${token}`, ...(isGzip ? { 'accept-encoding': 'gzip' } : {}) };
  const path = '/api/v1/stream?events=false&status=changes';
  const calling = request({ host: '127.0.0.1', port, path, headers, agent: false }, (answer) => {
    answer.on('error', () => {}); // it is cut by us
    answer.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    const plain = isGzip ? answer.pipe(createGunzip()) : answer;
    plain.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
  });
  calling.on('error', () => {}).end();
  return {
    get bytes() {
      return bytes;
    },
    async take(goal, fits) {
      await until(goal, () => fits(text), 30_000);
      const count = bytes - counted;
      counted = bytes;
      text = '';
      return count;
    },
    [Symbol.dispose]: () => void calling.destroy(),
  };
}
