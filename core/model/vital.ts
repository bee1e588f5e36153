/** What an answer says about the inbox's reader. Shown, never an `alert`. The Kijito contract says nothing of it: `not-reported`. */
export type VitalReason = 'not-reported';

export type Vital =
  | { readonly is: 'live' }
  | { readonly is: 'unknown' | 'stalled' | 'gone'; readonly why: VitalReason };

export const VITAL_NOT_REPORTED: Vital = { is: 'unknown', why: 'not-reported' };
