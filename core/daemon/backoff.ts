/** Waits between two connections: 1 s, doubled, at most 60 s (persona daemon, contract 3). */
const FIRST_MS = 1_000;
const HIGHEST_MS = 60_000;
const JITTER = 0.2;
const HIGHEST_PEEK_MS = 30_000;
/** The longest wait that an upstream can ask for. */
const LONGEST_RETRY_AFTER_MS = 3_600_000;

export const AUTH_RETRY_MS = 300_000;
export const SECOND_DAEMON_MS = 60_000;

/** Milliseconds before the next connection, after this many attempts in a row. `draw` in [0, 1) is the jitter. */
export function computeLadderMs(attempts: number, draw: number): number {
  return Math.round(computeRungMs(attempts - 1, HIGHEST_MS) * (1 - JITTER + 2 * JITTER * draw));
}

/** Milliseconds before the next peek, after this many failures in a row: 1, 2, 4 .. 30 s. */
export function computePeekRetryMs(failures: number): number {
  return computeRungMs(failures - 1, HIGHEST_PEEK_MS);
}

/** What to do after a close (persona daemon, contract 2). */
export type AfterClose = { readonly is: 'again'; readonly ms: number } | { readonly is: 'stop'; readonly exit: 0 | 78 };

export const CLOSE = { auth: 4401, wrongPersona: 4403, second: 4409, gone: 4410, busy: 4429 } as const;

export function decideAfterClose(
  { code, retryAfterMs }: { readonly code: number | null; readonly retryAfterMs: number | null },
  attempts: number,
  draw: number,
): AfterClose {
  switch (code) {
    case CLOSE.auth:
      return { is: 'again', ms: AUTH_RETRY_MS };
    case CLOSE.second:
      return { is: 'again', ms: SECOND_DAEMON_MS };
    case CLOSE.wrongPersona:
      return { is: 'stop', exit: 78 };
    case CLOSE.gone:
      return { is: 'stop', exit: 0 };
    case CLOSE.busy:
      return {
        is: 'again',
        ms: retryAfterMs === null ? computeLadderMs(attempts, draw) : clampRetryAfter(retryAfterMs),
      };
    default:
      return { is: 'again', ms: computeLadderMs(attempts, draw) };
  }
}

/** The close code with the same meaning as an HTTP status on the upgrade; null: there is none. */
export function toCloseCode(status: number): number | null {
  const code = 4000 + status;
  return Object.values<number>(CLOSE).includes(code) ? code : null;
}

/** At least a second, so that an upstream that says 0 is not called in a loop. */
function clampRetryAfter(ms: number): number {
  return Math.min(LONGEST_RETRY_AFTER_MS, Math.max(FIRST_MS, Number.isFinite(ms) ? ms : FIRST_MS));
}

function computeRungMs(step: number, highest: number): number {
  return Math.min(highest, FIRST_MS * 2 ** Math.min(16, Math.max(0, step)));
}
