/** Why a surface has its status; a bounded list, so that it can be part of a status. */
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

/** The status of a surface, as it reports it (persona daemon, contract 5). */
export interface SurfaceStatus {
  /** Whether the surface is there; false raises `surface_unavailable`. */
  readonly alive: boolean;
  /** Whether the surface would take a doorbell now. */
  readonly accepting: boolean;
  readonly detail_class: DetailClass;
}

/** A surface that does not answer within this time, in milliseconds, counts as not answering. */
export const STATUS_WITHIN_MS = 1000;
