import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { Fault } from '../../model/index.ts';
import { type Files, startTimer } from '../../ports/index.ts';
import type { SendToSession } from './reply.ts';

const CONNECT_MS = 5000;
/** A session that takes a line may leave the connection open. Nothing comes back, so nobody waits longer for its end. */
const LINGER_MS = 1000;
const STICKY = 0o1000;
const GROUP_OR_ALL_WRITE = 0o022;

/** Sends one frame to the socket of a session, and nothing else. The connection is ended on our side after it. */
export function createSendToSession(files: Pick<Files, 'lstat'>, uid: number | null): SendToSession {
  return async (path, createFrame, signal) => {
    checkSocket(path, files, uid);
    await sendLine(path, createFrame(randomUUID()), signal);
  };
}

/** Text of a person goes only to a program of this person. @throws Fault `usage` */
function checkSocket(path: string, files: Pick<Files, 'lstat'>, uid: number | null): void {
  const [socket, folder] = [files.lstat(path), files.lstat(dirname(path))];
  if (socket === null) throw createFault('refused', `${path} is gone, so the session cannot be reached`);
  if (socket.kind !== 'other') throw createFault('usage', `${path} is no socket, so nothing is sent to it`);
  if (uid === null) return;
  if (socket.uid !== uid) throw createFault('usage', `${path} belongs to another user, so nothing is sent to it`);
  const isShared = folder === null || ((folder.mode & GROUP_OR_ALL_WRITE) !== 0 && (folder.mode & STICKY) === 0);
  const isForeign = folder !== null && folder.uid !== uid && (folder.mode & STICKY) === 0;
  if (isShared || isForeign)
    throw createFault('usage', `others can replace ${path}, so nothing is sent to it: check who may write that folder`);
}

/** Resolves when the line was handed to the system, and the other side had the time to end the connection. @throws Fault */
function sendLine(path: string, line: string, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.reject(signal.reason);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect({ path, allowHalfOpen: true });
  let isSent = false;
  let timer = startTimer(CONNECT_MS, () =>
    finish(createFault('timeout', `${path}: the session did not take it within ${CONNECT_MS / 1000} s`)),
  );
  const finish = (fault: unknown): void => {
    timer[Symbol.dispose]();
    signal.removeEventListener('abort', abort);
    socket.destroy();
    if (fault === null) resolve();
    else reject(fault);
  };
  const abort = (): void => finish(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    const isRefused = error.code === 'ECONNREFUSED' || error.code === 'ENOENT';
    if (isRefused) finish(createFault('refused', `${path}: nobody listens there any more`, error));
    else finish(createFault('broken', `${path}: the session closed the connection (${error.code})`, error));
  });
  socket.on('close', () => finish(isSent ? null : createFault('broken', `${path}: the session took nothing`)));
  socket.on('finish', () => {
    isSent = true;
    timer[Symbol.dispose]();
    timer = startTimer(LINGER_MS, () => finish(null));
  });
  socket.resume(); // what might come back is no acknowledgement
  socket.end(line);
  return promise;
}

function createFault(code: 'refused' | 'timeout' | 'broken' | 'usage', message: string, cause?: Error): Fault {
  return new Fault(code, message, { is: 'machine', key: 'claude-reply' }, cause === undefined ? {} : { cause });
}
