import * as http from 'node:http';
import * as https from 'node:https';
import { Fault } from '../../../core/model/index.ts';

export interface Posted {
  readonly status: number;
  /** Null: it was no JSON. */
  readonly body: unknown;
}

const WITHIN_MS = 10_000;
/** As much as one answer to a drain can have, five times over. */
const MOST_BYTES = 16 * 1024 * 1024;

/** POST of JSON with a bearer token, on a connection of its own. @throws Fault when no whole answer comes */
export function postJson(url: string, token: string, body: object): Promise<Posted> {
  const { origin } = new URL(url);
  const { request, Agent } = url.startsWith('https:') ? https : http;
  const text = JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const failed = (code: 'refused' | 'timeout' | 'broken' | 'too-large', what: string, cause?: Error): void => {
      reject(
        new Fault(code, `${origin}: ${what}`, { is: 'source', key: origin }, cause === undefined ? {} : { cause }),
      );
      asked.destroy();
    };
    const headers = {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(text),
    };
    // The connection stays until this process ends: an end right behind the answer looks like one that never read it.
    const agent = new Agent({ keepAlive: true });
    const asked = request(url, { method: 'POST', headers, agent, timeout: WITHIN_MS }, (answer) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > MOST_BYTES) failed('too-large', `its answer is over ${MOST_BYTES} bytes`);
        else chunks.push(chunk);
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: jsonOf(Buffer.concat(chunks)) }));
      answer.on('error', (error) => failed('broken', error.message, error));
    });
    asked.on('timeout', () => failed('timeout', `no answer within ${WITHIN_MS / 1000} s`));
    asked.on('error', (error: NodeJS.ErrnoException) =>
      failed(error.code === 'ECONNREFUSED' ? 'refused' : 'broken', error.message, error),
    );
    asked.end(text);
  });
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return null; // the caller says what was to come instead
  }
}
