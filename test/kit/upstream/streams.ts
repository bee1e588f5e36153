import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Faults } from './faults.ts';
import { findCaller, type PersonaRecord } from './personas.ts';
import { type Caller, type Entry, type Frame, parseFrame } from './recording.ts';
import type { Registration } from './registrations.ts';

export interface Stream {
  readonly number: number;
  readonly socket: WebSocket;
  readonly caller: Caller;
  readonly persona: PersonaRecord;
  registration: Registration | null;
}

/** What the stream side needs of the server around it. */
export interface StreamsOptions {
  readonly heartbeatMs: number;
  readonly pingMs: number;
  readonly faults: Faults;
  readonly personas: readonly PersonaRecord[];
  readonly put: (entry: Entry) => void;
  /** ISO 8601, with the skew. */
  readonly timeOfDay: () => string;
}

/** `GET /v1/session/stream`. */
export interface Streams {
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Those that were welcomed. */
  listGreeted(persona: PersonaRecord): readonly Stream[];
  tellAll(persona: PersonaRecord, frame: Frame): void;
  rows(): readonly Registration[];
  /** Closes these with the code; `retryAfterMs` goes with it as JSON in the reason. */
  close(which: readonly Stream[] | 'all', code: number, retryAfterMs?: number): void;
}

const MAX_FRAME_BYTES = 64 * 1024;

export function sessionStreams({ heartbeatMs, pingMs, faults, personas, put, timeOfDay }: StreamsOptions): Streams {
  const streams = new Set<Stream>();
  let connections = 0;

  const say = (stream: Stream, frame: Frame): void => {
    if (faults.halfOpen || stream.socket.readyState !== stream.socket.OPEN) return;
    const { number: connection, caller, persona } = stream;
    put({ is: 'sent', connection, frame, caller, identity: persona.identity });
    stream.socket.send(JSON.stringify(frame));
  };
  const listGreeted = (persona: PersonaRecord): readonly Stream[] =>
    [...streams].filter((stream) => stream.persona === persona && stream.registration !== null);
  const tellAll = (persona: PersonaRecord, frame: Frame): void => {
    for (const stream of listGreeted(persona)) say(stream, frame);
  };
  const close = (which: Iterable<Stream>, code: number, retryAfterMs?: number): void => {
    const reason = retryAfterMs === undefined ? '' : JSON.stringify({ retry_after_ms: retryAfterMs });
    for (const { socket } of which) socket.close(code, reason);
  };

  /** The close code a hello earns; null: it is welcome. */
  const refusal = (stream: Stream, frame: Frame): number | null => {
    const { persona, caller } = stream;
    const kind = caller === 'daemon' ? 'daemon' : 'agent';
    if (persona.isGone) return 4410;
    if (frame.kind !== kind || frame.tenant_id !== persona.tenant || frame.identity !== persona.identity) return 4403;
    const isSecond =
      kind === 'daemon' && listGreeted(persona).some(({ registration }) => registration?.kind === 'daemon');
    return isSecond && !faults.allowDuplicate ? 4409 : null;
  };

  const hello = (stream: Stream, frame: Frame): void => {
    const { persona, caller } = stream;
    const fault = faults.stream;
    if (fault?.is === 'mute') return;
    const code = fault?.is === 'close' ? fault.code : refusal(stream, frame);
    if (code !== null) {
      close([stream], code, fault?.is === 'close' ? fault.retryAfterMs : undefined);
      return;
    }
    const text = (name: string): string | null => (typeof frame[name] === 'string' ? (frame[name] as string) : null);
    const registration: Registration = {
      registration_id: stream.registration?.registration_id ?? randomUUID(),
      kind: caller === 'daemon' ? 'daemon' : 'agent',
      master_eligible: caller === 'surface',
      tenant_id: persona.tenant,
      identity: persona.identity,
      surface: text('surface') ?? '',
      project: text('project'),
      machine_id: text('machine_id'),
      version: text('version'),
      since: timeOfDay(),
      heartbeat: null,
    };
    stream.registration = registration;
    const identity = fault?.is === 'other-identity' ? fault.identity : persona.identity;
    const { registration_id, tenant_id, surface, kind } = registration;
    const { rev } = persona.queue;
    say(stream, { type: 'welcome', registration_id, tenant_id, identity, heartbeat_ms: heartbeatMs, rev });
    if (kind === 'agent') tellAll(persona, { type: 'peer_joined', identity, surface });
  };

  const heard = (stream: Stream, frame: Frame): void => {
    const { number: connection, caller, persona } = stream;
    put({ is: 'received', frame, connection, caller, identity: persona.identity });
    if (frame.type === 'hello') hello(stream, frame);
    if (frame.type === 'heartbeat' && stream.registration !== null) {
      const { type: _, ...fields } = frame;
      stream.registration = { ...stream.registration, heartbeat: { at: timeOfDay(), ...fields } };
    }
  };

  const opened = (socket: WebSocket, caller: Caller, persona: PersonaRecord, connection: number): void => {
    const stream: Stream = { number: connection, socket, caller, persona, registration: null };
    const { identity } = persona;
    streams.add(stream);
    const ping = setInterval(() => {
      if (!faults.halfOpen) socket.ping();
    }, pingMs);
    socket.on('pong', () => put({ is: 'ponged', connection, caller, identity }));
    socket.on('error', () => {}); // a close follows
    socket.on('message', (data, isBinary) => heard(stream, isBinary ? { type: '(binary)' } : parseFrame(String(data))));
    socket.on('close', (code) => {
      clearInterval(ping);
      streams.delete(stream);
      put({ is: 'closed', code, connection, caller, identity });
      if (stream.registration?.kind !== 'agent') return;
      const { surface } = stream.registration;
      tellAll(persona, { type: 'peer_left', identity, surface, reason: 'expire' });
    });
  };

  const server = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_FRAME_BYTES,
    handleProtocols: (protocols) => (protocols.has('signals.v1') ? 'signals.v1' : false),
  });

  return {
    upgrade(request, socket, head) {
      const { caller, persona } = findCaller(personas, request);
      const path = new URL(request.url ?? '/', 'http://upstream').pathname;
      const identity = persona?.identity ?? null;
      const status = path !== '/v1/session/stream' ? 404 : faults.stream?.is === 'status' ? faults.stream.status : 101;
      const connection = status === 101 ? ++connections : null;
      put({ is: 'upgrade', path, status, connection, caller, identity });
      if (connection === null) {
        socket.end(`HTTP/1.1 ${status} No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
        return;
      }
      server.handleUpgrade(request, socket, head, (made) => {
        if (persona !== null) {
          opened(made, caller, persona, connection);
          return;
        }
        made.on('error', () => {});
        made.on('close', (code) => put({ is: 'closed', code, connection, caller, identity }));
        made.close(4401);
      });
    },
    listGreeted,
    tellAll,
    rows: () => [...streams].flatMap(({ registration }) => registration ?? []),
    close: (which, code, retryAfterMs) => close(which === 'all' ? streams : which, code, retryAfterMs),
  };
}
