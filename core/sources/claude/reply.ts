import { isAbsolute } from 'node:path';
import { Fault, type FaultCode } from '../../model/index.ts';
import type { Persona, Reply, ReplyResult } from '../source.ts';
import type { LiveSession } from './directory.ts';
import type { ReadProcess, SessionFile } from './read/index.ts';
import { type Entry, toPersonaId } from './roster.ts';

/**
 * Sends a frame to a socket.
 * @param createFrame makes the line from the id of the message
 * @throws Fault
 */
export type SendToSession = (path: string, createFrame: (id: string) => string, signal: AbortSignal) => Promise<void>;

/** @param find what a persona stands for; null when it is not there */
export type ReplyToSession = (
  persona: Pick<Persona, 'address'>,
  reply: Reply,
  find: (address: string) => Entry | null,
  signal: AbortSignal,
) => Promise<ReplyResult>;

interface SessionReplyOptions {
  readonly readProcess: ReadProcess;
  readonly send: SendToSession;
}

/** The protocol of the sockets that is known. To another one nothing is sent. */
const PROTOCOL = 1;
/** What a session takes at most (contract 5), with the frame around it. */
const MOST_FRAME_BYTES = 1_000_000;
const FIRST_VERSION = '2.1.224';

/** Hands what a person typed to the session of a persona (contract 5). Nothing is ever written into a file of Claude Code. */
export function createSessionReply({ readProcess, send }: SessionReplyOptions): ReplyToSession {
  return async ({ address }, { text, message }, find, signal) => {
    const persona = toPersonaId(address);
    if (message !== null)
      throw createFault('usage', `a session takes what you say, and no reply to one message: leave ${message} out`);
    const entry = find(address);
    const session = entry?.session ?? null;
    if (entry === null || session === null) throw createFault('usage', `there is no session behind ${persona}`);
    if (!entry.isSession)
      throw createFault(
        'usage',
        `${persona} is a member of a team and has no socket: reply to the session of its lead`,
      );
    const path = findSocket(persona, session, readProcess);
    await send(path, (id) => formatFrame(id, text), signal);
    return { is: 'handed-over', says: `sent, not confirmed: a session acknowledges nothing${describe(session.file)}` };
  };
}

/** One line. The session shows it to its agent as a message from hivebar, and never takes it for consent. */
export function formatFrame(id: string, text: string): string {
  const frame = {
    ...{ msgV: 1, msg_id: id, type: 'user', priority: 'next', from: 'hivebar' },
    message: { role: 'user', content: text },
  };
  const line = `${JSON.stringify(frame)}\n`;
  if (Buffer.byteLength(line) <= MOST_FRAME_BYTES) return line;
  throw createFault('usage', `the text is too long: a session takes ${MOST_FRAME_BYTES} bytes at most`);
}

/** @throws Fault that says why the session cannot be reached, and what to do instead */
export function findSocket(
  persona: string,
  { file, goneAt }: Pick<LiveSession, 'file' | 'goneAt'>,
  readProcess: ReadProcess,
): string {
  const { pid, procStart, socketPath, peerProtocol, version } = file;
  const sign = readProcess(pid);
  const isOther = sign.is === 'gone' || (sign.startKey !== null && sign.startKey !== procStart);
  if (goneAt !== null || isOther)
    throw createFault('usage', `the process of ${persona} ended: hivebar open ${persona} resumes its session`);
  const instead = `hivebar open ${persona} shows it, to type there`;
  if (socketPath === null)
    throw createFault(
      'usage',
      `${persona}${version === null ? '' : ` (Claude Code ${version})`} has no socket for messages, which needs ` +
        `${FIRST_VERSION} or later with telemetry on: ${instead}`,
    );
  if (peerProtocol !== PROTOCOL)
    throw createFault(
      'schema',
      `${persona} speaks protocol ${peerProtocol ?? 'none'} at its socket, and ${PROTOCOL} is known: ${instead}`,
    );
  if (!isAbsolute(socketPath) || /\p{Cc}/u.test(socketPath))
    throw createFault('usage', `${persona} names a socket that is no absolute path: ${instead}`);
  return socketPath;
}

/** A session that waits at a prompt reads nothing before a person answers that. */
function describe({ status, waitingFor }: SessionFile): string {
  if (status !== 'waiting') return ', and may hold or refuse it';
  const prompt = waitingFor === null ? 'a prompt' : JSON.stringify(waitingFor.slice(0, 40));
  return `. It waits (${prompt}), which a reply does not answer: open the session`;
}

function createFault(code: FaultCode, message: string): Fault {
  return new Fault(code, message, { is: 'machine', key: 'claude-reply' });
}
