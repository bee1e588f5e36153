/** What a source may report about a citizen of a garden (garden contract 7). */
export type CitizenReason =
  | 'no-drain'
  | 'not-armed'
  | 'owner-dead'
  | 'owner-implausible'
  | 'owner-uncertain'
  | 'identity-mismatch';

/** What a source may report about how the numbers of a project were obtained (brainclaw contract 9). */
export type ProjectReason =
  | 'journal-off'
  | 'incomplete'
  | 'from-checkpoint'
  | 'registry-partial'
  | 'seeded'
  | `skipped=${number}`;

/** What a source may report about a persona daemon (persona daemon, contract 5). */
export type DaemonReason =
  /** Somebody ended its process on purpose, and nobody restarts it. */
  | 'paused'
  /** Its stream to the upstream is broken, so its last counts may be old. */
  | 'upstream-unreachable'
  /** It is asking the upstream what is pending. */
  | 'reconciling'
  | 'heartbeat-late'
  /** It lives and rings, but nothing is fetched. */
  | 'drain-stalled'
  | 'surface-unavailable'
  /** It gave up, because its configuration, its token or its shim is unusable. */
  | 'daemon-failed';

/**
 * What an answer reports about the reader of the inbox, or about the answer itself. It is shown and never raises an
 * `alert`. The Kijito contract reports nothing: `not-reported`.
 */
export type AgentStateReason = 'not-reported' | CitizenReason | ProjectReason | DaemonReason;

export type AgentState =
  /** `why`: a remark about a reader that lives. */
  | { readonly is: 'live'; readonly why?: AgentStateReason }
  | { readonly is: 'unknown' | 'stalled' | 'gone'; readonly why: AgentStateReason };

export const AGENT_STATE_NOT_REPORTED: AgentState = { is: 'unknown', why: 'not-reported' };
