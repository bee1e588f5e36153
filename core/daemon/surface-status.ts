/** Why a surface is as it is; bounded, so that it can stand in a status. */
export const DETAIL_CLASSES = [
  'ready',
  'waiting_hook',
  'between_hooks',
  'no_shim',
  'shim_backoff',
  'shim_failed',
  'no_answer',
  'busy',
  'no_desktop',
] as const;
export type DetailClass = (typeof DETAIL_CLASSES)[number];

/** What a surface says of itself (persona daemon, contract 5). */
export interface SurfaceStatus {
  /** It is there; false raises `surface_unavailable`. */
  readonly alive: boolean;
  /** It would take a doorbell now. */
  readonly accepting: boolean;
  readonly detail_class: DetailClass;
}

/** A surface that says nothing of itself within this time counts as one that does not answer. */
export const STATUS_WITHIN_MS = 1000;
