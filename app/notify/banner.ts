import type { PersonaId } from '../../core/model/index.ts';

/**
 * What one banner is about; the desktop shows at most one banner a key, and a newer one replaces it in place.
 * The prefix keeps a persona called `__proto__` from being anything but a name.
 */
export type BannerKey = `mail:${string}` | 'crowd' | `outage:${string}`;

export function mailKey(persona: PersonaId): `mail:${string}` {
  return `mail:${persona}`;
}

/** `cause` is `Fault.scope.key`: all faults with one key are one outage to a person. */
export function outageKey(cause: string): `outage:${string}` {
  return `outage:${cause}`;
}

/** Where a click leads. */
export type Opens = { readonly is: 'persona'; readonly persona: PersonaId } | { readonly is: 'overview' };

/** One notification, ready but for the escaping that only the desktop's driver can decide. */
export interface Banner {
  readonly key: BannerKey;
  readonly is: 'mail' | 'outage' | 'recovery';
  /** One line of plain text, already cleaned and cut (text.ts). */
  readonly title: string;
  /** Plain text, already cleaned and cut; may be empty. */
  readonly body: string;
  /** `critical` is for outages only: many desktops show it even in "do not disturb" and never expire it. */
  readonly urgency: 'normal' | 'high' | 'critical';
  readonly opens: Opens;
}
