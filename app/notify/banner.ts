import type { PersonaId } from '../../core/model/index.ts';
import type { ClickTarget } from '../open/index.ts';

/**
 * What one banner is about; the desktop shows at most one banner a key, and a newer one replaces it in place.
 * The prefix keeps a persona called `__proto__` from being anything but a name.
 */
export type BannerKey =
  | `mail:${string}`
  | 'crowd'
  | `outage:${string}`
  | `decision:${number}`
  | 'decisions'
  | 'failed'
  | 'test';

export function toMailKey(persona: PersonaId): `mail:${string}` {
  return `mail:${persona}`;
}

/** `cause` is `Fault.scope.key`: all faults with one key are one outage to a person. */
export function toOutageKey(cause: string): `outage:${string}` {
  return `outage:${cause}`;
}

export function toDecisionKey(id: number): `decision:${number}` {
  return `decision:${id}`;
}

/** What a click asks for: an action by its name in the table of actions, and its params. */
export interface BannerAction {
  readonly name: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** One for each option of a decision that has a button; more than three no desktop shows. */
export const ANSWERS = ['answer-1', 'answer-2', 'answer-3'] as const;

/** Beside the click on the banner itself; a desktop that has no buttons leaves them out. */
export interface BannerButton {
  readonly id: 'open' | 'read' | 'mute' | (typeof ANSWERS)[number];
  readonly label: string;
  readonly action: BannerAction;
}

/** One notification, ready but for the escaping that only the desktop's driver can decide. */
export interface Banner {
  readonly key: BannerKey;
  readonly is: 'mail' | 'outage' | 'recovery' | 'decision' | 'failed' | 'test';
  /** One line of plain text, already cleaned and cut (text.ts). */
  readonly title: string;
  /** Plain text, already cleaned and cut; may be empty. */
  readonly body: string;
  /** `critical` is for outages, and decisions that hold somebody up or are urgent: many desktops show it even in "do not disturb" and never expire it. */
  readonly urgency: 'normal' | 'high' | 'critical';
  readonly opens: ClickTarget;
  readonly buttons: readonly BannerButton[];
}

/**
 * What a click on the banner, or on one of its buttons, asks for; null for a button that it does not have. Mail opens the
 * persona's session; an outage the page, where its reason and next step stand, and a decision too, where text can be written.
 */
export function findBannerAction(
  banner: Banner,
  part: 'banner' | BannerButton['id'],
  activationToken: string | null,
): BannerAction | null {
  const token = activationToken === null ? {} : { activationToken };
  if (part !== 'banner') {
    const action = banner.buttons.find(({ id }) => id === part)?.action ?? null;
    return action === null || part !== 'open' ? action : { ...action, params: { ...action.params, ...token } };
  }
  const { opens } = banner;
  if (opens.is === 'overview') return { name: 'page', params: token };
  return { name: banner.is === 'mail' ? 'open' : 'page', params: { persona: opens.persona, ...token } };
}
