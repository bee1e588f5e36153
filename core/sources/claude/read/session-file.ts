import { type Instant, parseJson } from '../../../model/index.ts';

/** A session as its file in `sessions/` has it (contract 1). Text is as it was written, so it is cleaned before it is shown. */
export interface SessionFile {
  readonly pid: number;
  readonly sessionId: string;
  readonly cwd: string;
  /** Tells the process from a later one with the same pid. */
  readonly procStart: string;
  readonly kind: string | null;
  readonly entrypoint: string | null;
  readonly name: string | null;
  /** Null: a session without a terminal, or its first milliseconds. */
  readonly status: string | null;
  readonly waitingFor: string | null;
  readonly statusUpdatedAt: Instant | null;
  readonly startedAt: Instant | null;
  /** Where it takes what others send to it; null: it cannot be reached. */
  readonly socketPath: string | null;
  /** How others speak to it there; null: it does not say. */
  readonly peerProtocol: number | null;
  readonly version: string | null;
  /** Of a background session. */
  readonly jobId: string | null;
}

const SESSION_ID = /^[\dA-Za-z][\dA-Za-z-]{7,63}$/;
const MOST_PID = 0x7fff_ffff;

/** Whether a name in `sessions/` is that of a session. Keys, and files of an older generation, are not: they are never opened. */
export const isSessionFileName = (name: string): boolean => /^[1-9]\d{0,9}\.json$/.test(name);

/** @returns null for a file that has no start key or is none of a session @throws SyntaxError for half a file */
export function parseSessionFile(text: string): SessionFile | null {
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null) return null;
  const fields = value as Readonly<Record<string, unknown>>;
  const { pid, sessionId, cwd, procStart } = fields;
  if (typeof pid !== 'number' || !Number.isInteger(pid) || pid < 1 || pid > MOST_PID) return null;
  if (typeof sessionId !== 'string' || !SESSION_ID.test(sessionId)) return null;
  if (typeof cwd !== 'string' || cwd === '' || typeof procStart !== 'string' || procStart === '') return null;
  return {
    ...{ pid, sessionId, cwd, procStart },
    kind: toText(fields.kind),
    entrypoint: toText(fields.entrypoint),
    name: toText(fields.name),
    status: toText(fields.status),
    waitingFor: toText(fields.waitingFor),
    statusUpdatedAt: toInstant(fields.statusUpdatedAt),
    startedAt: toInstant(fields.startedAt),
    socketPath: toText(fields.messagingSocketPath),
    peerProtocol: typeof fields.peerProtocol === 'number' ? fields.peerProtocol : null,
    version: toText(fields.version),
    jobId: toText(fields.jobId),
  };
}

const toText = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
const toInstant = (value: unknown): Instant | null =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : null;
