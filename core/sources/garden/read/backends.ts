/** The harnesses that write meta-records of their own sessions. Only they have markers and v1 records. */
export const NATIVE_BACKENDS = ['claude-code', 'antigravity', 'codex'] as const;
export type NativeBackend = (typeof NATIVE_BACKENDS)[number];

export const BACKENDS = [...NATIVE_BACKENDS, 'pi'] as const;
export type Backend = (typeof BACKENDS)[number];

/** How a message body reaches the model: it fetches the body when it is woken, or the body is injected into its turn. */
export type WakeMode = 'self-fetch' | 'direct-inject';

export interface Capability {
  readonly wakeMode: WakeMode;
  readonly deliveryLevel: string;
  /** The harness's own name for a `nativeSessionId`. */
  readonly nativeIdLabel: string;
}

/** The registry of capabilities, which is the same in both generations (garden contract 2). */
export const CAPABILITIES: Readonly<Record<Backend, Capability>> = {
  'claude-code': { wakeMode: 'self-fetch', deliveryLevel: 'D6', nativeIdLabel: 'sessionId' },
  antigravity: { wakeMode: 'direct-inject', deliveryLevel: 'D6', nativeIdLabel: 'conversationId' },
  codex: { wakeMode: 'direct-inject', deliveryLevel: 'D6', nativeIdLabel: 'threadId' },
  pi: { wakeMode: 'direct-inject', deliveryLevel: 'D6', nativeIdLabel: 'sessionId' },
};
