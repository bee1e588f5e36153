import type { IncomingMessage } from 'node:http';
import type { QueueDrain, Signal, SignalQueue } from './queue.ts';
import type { Caller, Frame } from './recording.ts';

/** One persona as the upstream knows it. */
export interface UpstreamPersona {
  readonly tenant: string;
  readonly identity: string;
  /** The bearer tokens, hex. */
  readonly observe: string;
  readonly act: string;
  readonly queue: SignalQueue;
  /** As many signals, accepted and told to its streams. @returns their ids */
  signals(count: number, signal?: Signal): readonly string[];
  /** What a surface does, without the HTTP. */
  drain(max?: number): QueueDrain;
  /** A frame to each of its streams, as it is. */
  send(frame: Frame): void;
  /** `pending_changed` with the present revision, `times` over. */
  burst(times: number): void;
  /** Anything at all to each of its streams: no JSON, or too long. */
  raw(data: string | Buffer): void;
  /** Its streams that said hello and are open. */
  readonly streams: number;
  /** Removed: its streams are closed with 4410, and each one that comes later. */
  remove(): void;
}

export interface PersonaRecord extends UpstreamPersona {
  readonly isGone: boolean;
}

/** Who calls, by the bearer token. */
export function findCaller(
  personas: readonly PersonaRecord[],
  request: IncomingMessage,
): { readonly caller: Caller; readonly persona: PersonaRecord | null } {
  const token = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1];
  const persona = personas.find((candidate) => token === candidate.observe || token === candidate.act) ?? null;
  if (persona === null) return { caller: 'nobody', persona };
  return { caller: persona.observe === token ? 'daemon' : 'surface', persona };
}
