import * as http from 'node:http';
import * as https from 'node:https';
import type { AskPending } from './session.ts';

/** The answer has about 80 bytes. */
const MOST_BYTES = 4096;

/** `GET /v1/signals/pending`, on its own connection (persona daemon, contract 2). */
export const askPending: AskPending = (url, token, signal) =>
  new Promise((resolve, reject) => {
    const { get } = url.startsWith('https:') ? https : http;
    const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };
    const request = get(url, { headers, signal, agent: false }, (response) => {
      const { statusCode } = response;
      if (statusCode !== 200) {
        response.destroy();
        reject(new Error(`the peek was answered with HTTP ${statusCode}`));
        return;
      }
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        text += piece;
        if (text.length > MOST_BYTES) response.destroy(new Error(`the answer to the peek is over ${MOST_BYTES} bytes`));
      });
      response.on('end', () => resolve(text));
      response.on('error', reject);
    });
    request.on('error', reject);
  });
