import * as http from 'node:http';
import * as https from 'node:https';
import { Fault, parseJson } from '../../../core/model/index.ts';

interface JsonResponse {
  readonly status: number;
  /** Null: the body was not JSON. */
  readonly body: unknown;
}

const WITHIN_MS = 10_000;
/** Five times the largest answer to a drain. */
const MOST_BYTES = 16 * 1024 * 1024;

/** URLs of a POST and of the GET that follows on the same connection. The GET shows the server that the answer was read. */
interface PostTargets {
  readonly post: string;
  readonly after: string;
}

/**
 * Sends a POST of JSON with a bearer token, on its own connection. When the connection ends right after the answer, the server
 * cannot tell that the answer was read. A second request shows it, and its answer is ignored.
 *
 * @throws Fault when no complete response comes
 */
export async function postJson({ post, after }: PostTargets, token: string, body: object): Promise<JsonResponse> {
  const { Agent } = post.startsWith('https:') ? https : http;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    const answer = await exchange({ method: 'POST', url: post, token, text: JSON.stringify(body) }, agent);
    await exchange({ method: 'GET', url: after, token, text: null }, agent).catch(() => {}); // the answer was already read
    return answer;
  } finally {
    agent.destroy();
  }
}

interface JsonRequest {
  readonly method: 'POST' | 'GET';
  readonly url: string;
  readonly token: string;
  readonly text: string | null;
}

function exchange({ method, url, token, text }: JsonRequest, agent: http.Agent): Promise<JsonResponse> {
  const { origin } = new URL(url);
  const { request } = url.startsWith('https:') ? https : http;
  return new Promise((resolve, reject) => {
    const fail = (code: 'refused' | 'timeout' | 'broken' | 'too-large', detail: string, cause?: Error): void => {
      reject(
        new Fault(code, `${origin}: ${detail}`, { is: 'source', key: origin }, cause === undefined ? {} : { cause }),
      );
      clientRequest.destroy();
    };
    const headers = {
      Authorization: `Bearer ${token}`,
      ...(text === null ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }),
    };
    const clientRequest = request(url, { method, headers, agent, timeout: WITHIN_MS }, (answer) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > MOST_BYTES) fail('too-large', `the answer is larger than ${MOST_BYTES} bytes`);
        else chunks.push(chunk);
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: parseBody(Buffer.concat(chunks)) }));
      answer.on('error', (error) => fail('broken', error.message, error));
    });
    clientRequest.on('timeout', () => fail('timeout', `timed out after ${WITHIN_MS / 1000} s`));
    clientRequest.on('error', (error: NodeJS.ErrnoException) =>
      fail(error.code === 'ECONNREFUSED' ? 'refused' : 'broken', error.message, error),
    );
    clientRequest.end(text ?? undefined);
  });
}

function parseBody(bytes: Buffer): unknown {
  try {
    return parseJson(bytes.toString('utf8'));
  } catch {
    return null; // the caller reports what it expected instead
  }
}
