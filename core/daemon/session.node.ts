import * as http from 'node:http';
import * as https from 'node:https';
import { WebSocket } from 'ws';
import type { AskPending, OpenSession } from './calls.ts';

/** A longer frame closes the stream (persona daemon, contract 2). */
const MOST_BYTES = 64 * 1024;
const HANDSHAKE_MS = 10_000;
const PROTOCOL = 'signals.v1';

/** Opens a stream over the WebSocket of `ws`. Node's own WebSocket does not report pings, which reveal a half-open connection. */
export const openSession: OpenSession = ({ url, token, hello }, listener) => {
  const socket = new WebSocket(url, PROTOCOL, {
    headers: { authorization: `Bearer ${token}` },
    maxPayload: MOST_BYTES,
    perMessageDeflate: false,
    handshakeTimeout: HANDSHAKE_MS,
    followRedirects: false,
  });
  let isOver = false;
  let isOpen = false;
  let why = '';
  let status: number | null = null;
  const over = (code: number | null, reason: string): void => {
    if (isOver) return;
    isOver = true;
    listener.closed({ code, status, reason, why: why || `closed with ${code ?? 'no code'}` });
  };
  socket.on('open', () => {
    isOpen = true;
    socket.send(JSON.stringify(hello));
  });
  socket.on('message', (data, isBinary) => {
    if (isOver) return;
    if (!isBinary) {
      listener.frame(String(data));
      return;
    }
    listener.garbled('a frame is not text');
  });
  for (const sign of ['ping', 'pong'] as const) {
    socket.on(sign, () => {
      if (!isOver) listener.heard();
    });
  }
  socket.on('unexpected-response', (_request, response) => {
    status = response.statusCode ?? null;
    why = `the upgrade was answered with HTTP ${status}`;
    response.destroy();
    socket.terminate();
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    why ||= error.message || (error.code ?? error.name);
    // While the stream is open, such an error means bad input. Before, it means an answer that is not an upgrade.
    if (!isOver && isOpen && error.code?.startsWith('WS_ERR_')) listener.garbled(error.message);
  });
  // `ws` reports 1006 if no close frame came, and 1005 if the close frame had no code.
  socket.on('close', (code, reason) => over(code === 1006 ? null : code, String(reason)));
  return {
    send: (frame, sent) => socket.send(JSON.stringify(frame), (error) => sent(error ?? null)),
    close: () =>
      new Promise((resolve) => {
        isOver = true;
        if (socket.readyState === WebSocket.CLOSED) return resolve();
        socket.once('close', () => resolve());
        if (isOpen) socket.close(1000);
        else socket.terminate();
      }),
    terminate() {
      isOver = true;
      socket.terminate();
    },
  };
};

/** The answer has about 80 bytes. */
const MOST_ANSWER_BYTES = 4096;

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
        if (text.length > MOST_ANSWER_BYTES)
          response.destroy(new Error(`the answer to the peek is over ${MOST_ANSWER_BYTES} bytes`));
      });
      response.on('end', () => resolve(text));
      response.on('error', reject);
    });
    request.on('error', reject);
  });
