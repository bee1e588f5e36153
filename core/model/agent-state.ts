/**
 * What an answer reports about the reader of the inbox, or about the answer itself. `why` is a reason of its source, such as
 * `drain-stalled`. It is shown and never raises an `alert`. The Kijito contract reports nothing: `not-reported`.
 */
export type AgentState =
  /** `why`: a remark about a reader that lives. */
  | { readonly is: 'live'; readonly why?: string }
  | { readonly is: 'unknown' | 'stalled' | 'gone'; readonly why: string };

export const AGENT_STATE_NOT_REPORTED: AgentState = { is: 'unknown', why: 'not-reported' };
