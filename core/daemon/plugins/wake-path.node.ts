import { request } from 'node:http';
import { ACCEPTED_WITHIN_MS, type WakePath } from './plugin.ts';

const MOST_CHARS = 2000;

/**
 * Wakes an agent through the address that its own runner gave: `POST {"message": line}`. Only numeric addresses of this machine
 * are used. A redirect counts as an answer and is not followed.
 * @param address the current address; null: none
 * @param line the whole message: it contains no text of others
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
      if (url === null) throw new Error('no hook is waiting, and no wake path of this agent is known');
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
