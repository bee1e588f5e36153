import type { DaemonFrame } from './frames.ts';

/** What a stream tells, until it is closed: after that, nothing. */
export interface SessionListener {
  /** A text frame. */
  frame(text: string): void;
  /** A ping, a pong. */
  heard(): void;
  /** A frame that is too large, no text, or against the protocol. The stream ends by itself. */
  garbled(why: string): void;
  /**
   * It ended, or never began. `code`: of its close frame; null: none came. `status`: of the HTTP answer that refused it.
   * `why` is for the log.
   */
  closed(how: {
    readonly code: number | null;
    readonly status: number | null;
    readonly reason: string;
    readonly why: string;
  }): void;
}

/** One connection of a session stream (persona daemon, contract 2). */
export interface UpstreamSession {
  /** `sent` hears once how it went; null: the system took it. */
  send(frame: DaemonFrame, sent: (error: Error | null) => void): void;
  /** Says goodbye and closes; resolves when it is closed. */
  close(): Promise<void>;
  /** Ends it without a word; its listener is not called any more. */
  terminate(): void;
}

/** What a stream is opened with. */
export interface StreamOpening {
  readonly url: string;
  readonly token: string;
  readonly hello: DaemonFrame;
}

/** Opens a stream and says hello on it. Never throws: a stream that cannot be opened is closed. */
export type OpenSession = (opening: StreamOpening, listener: SessionListener) => UpstreamSession;

/**
 * Asks what is pending. @returns the body of the answer
 * @throws Error with what went wrong, for the log
 */
export type AskPending = (url: string, token: string, signal: AbortSignal) => Promise<string>;
