import { once } from 'node:events';
import { WebSocket } from 'ws';
import { until } from './until.ts';

/** A frame of the server, with its `type`. */
export interface ServerFrame {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** What a test says and hears on the session stream; nothing of the daemon's own code. */
export interface StreamClient extends Disposable {
  readonly socket: WebSocket;
  readonly frames: readonly ServerFrame[];
  /** Frames of this type so far. */
  listFrames(type: string): readonly ServerFrame[];
  send(frame: object | string | Buffer): void;
  /** The next frame of this type that was not waited for before. */
  next(type: string): Promise<ServerFrame>;
  /** The close code; an upgrade that was refused as the code that means it: 401 as 4401, 403 as 4403. */
  ended(): Promise<number>;
}

export interface StreamOptions {
  readonly token: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
  readonly protocol?: string;
  /** Answers pings, as every client does. */
  readonly pongs?: boolean;
}

/** @param url `http://127.0.0.1:PORT` */
export function openStream(
  url: string,
  { token, headers = {}, path, protocol, pongs = true }: StreamOptions,
): StreamClient {
  const bearer: Record<string, string> = token === null ? {} : { Authorization: `Bearer ${token}` };
  const target = `${url.replace(/^http/, 'ws')}${path ?? '/v1/session/stream'}`;
  const socket = new WebSocket(target, protocol ?? 'signals.v1', {
    headers: { ...bearer, ...headers },
    autoPong: pongs,
  });
  const frames: ServerFrame[] = [];
  const waitedFor = new Map<string, number>();
  let code: number | null = null;
  socket.on('message', (data) => frames.push(JSON.parse(String(data)) as ServerFrame));
  socket.on('unexpected-response', (_request, response) => {
    const { statusCode = 0 } = response;
    code = statusCode === 401 ? 4401 : statusCode === 403 ? 4403 : statusCode;
    response.destroy();
  });
  socket.on('error', () => {}); // a close follows, or the refusal above
  socket.on('close', (closed) => {
    code ??= closed;
  });
  const listFrames = (type: string): readonly ServerFrame[] => frames.filter((frame) => frame.type === type);
  return {
    socket,
    frames,
    listFrames,
    send(frame) {
      const bytes = typeof frame === 'string' || Buffer.isBuffer(frame) ? frame : JSON.stringify(frame);
      if (socket.readyState === socket.CONNECTING) socket.once('open', () => socket.send(bytes));
      else socket.send(bytes);
    },
    async next(type) {
      const nth = waitedFor.get(type) ?? 0;
      waitedFor.set(type, nth + 1);
      await until(
        () => `frame ${nth + 1} of type ${type}; there are ${JSON.stringify(frames)}, code ${code}`,
        () => listFrames(type).length > nth,
      );
      return listFrames(type)[nth] as ServerFrame;
    },
    async ended() {
      if (code === null) await Promise.race([once(socket, 'close'), until('an end', () => code !== null)]);
      return code ?? 0;
    },
    [Symbol.dispose]() {
      socket.terminate();
    },
  };
}

/** What a daemon says first. */
export function createHello(
  persona: { readonly tenant: string; readonly identity: string },
  more: object = {},
): object {
  return {
    type: 'hello',
    kind: 'daemon',
    tenant_id: persona.tenant,
    identity: persona.identity,
    surface: 'claude-code',
    project: 'lab',
    machine_id: 'm1',
    version: '0.0.0-test',
    proto: 1,
    ...more,
  };
}
