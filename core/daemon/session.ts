import type { DaemonFrame } from './frames.ts';

/** What a stream reports until it is closed; after that it reports nothing. */
export interface SessionListener {
  /** A text frame. */
  frame(text: string): void;
  /** A ping or a pong. */
  heard(): void;
  /** A frame that is too large, not text, or against the protocol. The stream ends by itself. */
  garbled(why: string): void;
  /**
   * The stream ended, or never began. `code`: of its close frame; null: none came. `status`: of the HTTP answer that refused it.
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
  /** Sends a frame. `sent` is called once with the result; null: the system took the frame. */
  send(frame: DaemonFrame, sent: (error: Error | null) => void): void;
  /** Says goodbye and closes; resolves when the stream is closed. */
  close(): Promise<void>;
  /** Ends the stream without a goodbye; its listener is not called any more. */
  terminate(): void;
}

/** What is needed to open a stream. */
export interface StreamOpening {
  readonly url: string;
  readonly token: string;
  readonly hello: DaemonFrame;
}

/** Opens a stream and sends the hello. Never throws: a stream that cannot be opened reports `closed`. */
export type OpenSession = (opening: StreamOpening, listener: SessionListener) => UpstreamSession;

/**
 * Asks what is pending. @returns the body of the answer
 * @throws Error with what went wrong, for the log
 */
export type AskPending = (url: string, token: string, signal: AbortSignal) => Promise<string>;
