import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { parseJson } from '../../../core/model/index.ts';
import { parseHttpResponse } from '../tray-request.node.ts';
import type { DoctorContext } from './doctor-context.ts';
import type { PortListener, PortProbe } from './mail-judges.ts';

/** A listener on the same machine answers at once, or it hangs. */
const ANSWER_MS = 1200;
const MOST_BYTES = 64 * 1024;

export async function probePort(context: DoctorContext, signal: AbortSignal): Promise<PortProbe> {
  const answer = await context.tray();
  const running = answer.is === 'answered' ? answer : null;
  const port = running?.status.port ?? getPort(context);
  const ourVersion = context.version;
  const ours = running === null ? null : { id: running.id };
  if (port === 0) return { port, v4: { is: 'nobody' }, v6: { is: 'nobody' }, ours, ourVersion, who: null };
  const [v4, v6] = await Promise.all([findListener('127.0.0.1', port, signal), findListener('::1', port, signal)]);
  const isInUse = [v4, v6].some(({ is }) => is !== 'nobody' && is !== 'no-address');
  return { port, v4, v6, ours, ourVersion, who: isInUse ? findListenerProcess(port) : null };
}

/** Chooses the port as a start without the flag does. */
function getPort({ env, settings }: DoctorContext): number {
  return /^\d+$/.test(env.HIVEBAR_PORT ?? '') ? Number(env.HIVEBAR_PORT) : settings.port;
}

/** Finds out who listens, without sending the token, which is only for our own program. */
function findListener(host: string, port: number, signal: AbortSignal): Promise<PortListener> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const chunks: Buffer[] = [];
    const done = (listener: PortListener): void => {
      signal.removeEventListener('abort', aborted);
      socket.destroy();
      resolve(listener);
    };
    const aborted = (): void => done({ is: 'hangs' });
    signal.addEventListener('abort', aborted, { once: true });
    const late = setTimeout(() => done(chunks.length === 0 ? { is: 'hangs' } : identifyListener(chunks)), ANSWER_MS);
    socket.on('close', () => clearTimeout(late));
    socket.on('connect', () => {
      const name = host.includes(':') ? `[${host}]` : host;
      socket.write(`GET /healthz HTTP/1.1\r\nHost: ${name}:${port}\r\nConnection: close\r\n\r\n`);
    });
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      if (chunks.reduce((sum, { length }) => sum + length, 0) > MOST_BYTES) done(identifyListener(chunks));
    });
    socket.on('end', () => done(identifyListener(chunks)));
    socket.on('error', (error: NodeJS.ErrnoException) => done(classifyError(error.code ?? '', chunks)));
  });
}

function classifyError(code: string, chunks: readonly Buffer[]): PortListener {
  if (code === 'ECONNREFUSED') return { is: 'nobody' };
  if (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT' || code === 'ENETUNREACH') return { is: 'no-address' };
  return identifyListener(chunks);
}

const FIRST_CHARS = 40;

function identifyListener(chunks: readonly Buffer[]): PortListener {
  const bytes = Buffer.concat(chunks);
  if (bytes.length === 0) return { is: 'closes' };
  const answer = parseHttpResponse(bytes);
  if (answer?.status === 200) {
    const health = parseObject(answer.body);
    if (health?.ok === true && health.name === 'hivebar' && typeof health.version === 'string')
      return { is: 'hivebar', version: health.version, id: typeof health.id === 'string' ? health.id : null };
    if (health?.ok === true && Object.keys(health).length === 1) return { is: 'hivebar', version: null, id: null };
  }
  const text = bytes.toString('latin1');
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1];
  if (status === undefined) return { is: 'talks', first: text.slice(0, FIRST_CHARS) };
  const server = /^server: *([^\r\n]{1,60})/im.exec(text.slice(0, text.indexOf('\r\n\r\n')))?.[1];
  return { is: 'http', status: Number(status), server: server ?? null };
}

function parseObject(body: string): Record<string, unknown> | null {
  try {
    const value: unknown = parseJson(body);
    return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : null;
  } catch {
    return null; // the page of another program
  }
}

/** State of a listening socket in proc(5). */
const LISTENS = '0A';

/** Formats the listening program as `python3, pid 41`. Only /proc of Linux tells, for processes of this user; else null. */
function findListenerProcess(port: number): string | null {
  try {
    const sockets = new Set(['tcp', 'tcp6'].flatMap((table) => listSockets(table, port)));
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      if (!listDescriptors(pid).some((name) => sockets.has(name))) continue;
      return `${readFileSync(`/proc/${pid}/comm`, 'utf8').trim()}, pid ${pid}`;
    }
    return null;
  } catch {
    return null; // no /proc, or the process has ended; the finding does without its name
  }
}

function listSockets(table: string, port: number): readonly string[] {
  const hex = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = readFileSync(`/proc/net/${table}`, 'utf8').split('\n').slice(1);
  return rows.flatMap((row) => {
    const fields = row.trim().split(/\s+/);
    return fields[3] === LISTENS && fields[1]?.endsWith(hex) === true ? [`socket:[${fields[9]}]`] : [];
  });
}

function listDescriptors(pid: string): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
  } catch {
    return []; // another user's process, or it has ended
  }
}
