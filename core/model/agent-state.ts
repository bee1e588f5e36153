/** What may be said of a citizen of a garden (garden contract 7). */
export type CitizenReason =
  | 'no-drain'
  | 'not-armed'
  | 'owner-dead'
  | 'owner-implausible'
  | 'owner-uncertain'
  | 'identity-mismatch';

/** What may be said of how a project's numbers came to be (brainclaw contract 9). */
export type ProjectReason =
  | 'journal-off'
  | 'incomplete'
  | 'from-checkpoint'
  | 'registry-partial'
  | 'seeded'
  | `skipped=${number}`;

/** What may be said of a persona daemon (persona daemon, contract 5). */
export type DaemonReason =
  /** Its process ended because somebody wanted it, and nobody starts it. */
  | 'paused'
  /** Its stream to the upstream is away, so that what it counted last may be old. */
  | 'upstream-unreachable'
  /** It asks the upstream what is pending. */
  | 'reconciling'
  | 'heartbeat-late'
  /** It lives and rings, and nothing is fetched. */
  | 'drain-stalled'
  | 'surface-unavailable'
  /** It gave up: its configuration, its token or its shim is no good. */
  | 'daemon-failed';

/**
 * What an answer says about the inbox's reader, or about itself. Shown, never an `alert`. The Kijito contract says nothing
 * of it: `not-reported`.
 */
export type AgentStateReason = 'not-reported' | CitizenReason | ProjectReason | DaemonReason;

export type AgentState =
  /** `why`: it lives, and all the same something is to be said of it. */
  | { readonly is: 'live'; readonly why?: AgentStateReason }
  | { readonly is: 'unknown' | 'stalled' | 'gone'; readonly why: AgentStateReason };

export const AGENT_STATE_NOT_REPORTED: AgentState = { is: 'unknown', why: 'not-reported' };
