/**
 * What an answer says about the inbox's reader. Shown, never an `alert`. The Kijito contract says nothing of it:
 * `not-reported`. The others are those of a garden (garden contract 7).
 */
export type VitalReason =
  | 'not-reported'
  | 'no-drain'
  | 'not-armed'
  | 'owner-dead'
  | 'owner-implausible'
  | 'owner-uncertain'
  | 'identity-mismatch';

export type Vital =
  /** `why`: it lives, and all the same something is to be said of it. */
  | { readonly is: 'live'; readonly why?: VitalReason }
  | { readonly is: 'unknown' | 'stalled' | 'gone'; readonly why: VitalReason };

export const VITAL_NOT_REPORTED: Vital = { is: 'unknown', why: 'not-reported' };
