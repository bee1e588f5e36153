import { request } from 'node:http';
import { ACCEPTED_WITHIN_MS } from './plugin.ts';
import type { WakePath } from './wake-path.ts';

const MOST_CHARS = 2000;

/**
 * Wakes through the address that the agent's own runner gave: `POST {"message": line}`, to an address of this machine written as
 * a number and to no other. A redirect is an answer and is not followed.
 * @param address where it stands now; null: nowhere
 * @param line all that is said: no word of anybody else
 */
export function openWakePath(address: () => string | null, line: string): WakePath {
  const findUrl = (): URL | null => {
    const text = address();
    if (text === null || !URL.canParse(text)) return null;
    const url = new URL(text);
    const isHere = /^127\.\d+\.\d+\.\d+$/.test(url.hostname) || url.hostname === '[::1]';
    return url.protocol === 'http:' && isHere ? url : null;
  };
  return {
    isThere: () => findUrl() !== null,
    async ring() {
      const url = findUrl();
      if (url === null) throw new Error('no hook waits, and no wake of this agent is known');
      await postJson(url, JSON.stringify({ message: line }));
    },
  };
}

function postJson(url: URL, body: string): Promise<void> {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const clientRequest = request(url, { method: 'POST', headers, agent: false, timeout: ACCEPTED_WITHIN_MS });
    clientRequest.on('timeout', () => clientRequest.destroy(new Error('the wake does not answer')));
    clientRequest.on('error', reject);
    clientRequest.on('response', (response) => {
      let responseText = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        responseText = (responseText + text).slice(0, MOST_CHARS);
      });
      response.on('error', reject);
      response.on('end', () => {
        const { statusCode: code = 0 } = response;
        if (code >= 200 && code < 300 && !/"delivered"\s*:\s*false/.test(responseText)) resolve();
        else reject(new Error(`the wake answered ${code}`));
      });
    });
    clientRequest.end(body);
  });
}
