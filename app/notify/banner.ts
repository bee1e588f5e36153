import type { PersonaId } from '../../core/model/index.ts';
import type { ClickTarget } from '../open/index.ts';

/**
 * The subject of a banner. The desktop shows at most one banner per key, and a newer one replaces it in place. With the prefix, a
 * persona called `__proto__` is just another name.
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

/** Makes the key of an outage. `cause` is `Fault.scope.key`: all faults with the same key are one outage to a person. */
export function toOutageKey(cause: string): `outage:${string}` {
  return `outage:${cause}`;
}

export function toDecisionKey(id: number): `decision:${number}` {
  return `decision:${id}`;
}

/** What a click runs: the name of an action in the table of actions, and its params. */
export interface BannerAction {
  readonly name: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** The ids of the buttons, one for each option of a decision that has one. No desktop shows more than three. */
export const ANSWERS = ['answer-1', 'answer-2', 'answer-3'] as const;

/** A button beside the click on the banner itself. A desktop without buttons leaves it out. */
export interface BannerButton {
  readonly id: 'open' | 'read' | 'mute' | (typeof ANSWERS)[number];
  readonly label: string;
  readonly action: BannerAction;
}

/** One notification, complete except for the escaping, which only the channel can decide. */
export interface Banner {
  readonly key: BannerKey;
  readonly is: 'mail' | 'outage' | 'recovery' | 'decision' | 'failed' | 'test';
  /** One line of plain text, already cleaned and cut (text.ts). */
  readonly title: string;
  /** Plain text, already cleaned and cut; may be empty. */
  readonly body: string;
  /**
   * `critical` is for outages, and for decisions that are urgent or block an agent. Many desktops show it even in "do not
   * disturb" and never expire it.
   */
  readonly urgency: 'normal' | 'high' | 'critical';
  readonly opens: ClickTarget;
  readonly buttons: readonly BannerButton[];
}

/**
 * Returns the action for a click on the banner or on one of its buttons, or null for a button that it does not have. Mail opens
 * the persona's session. An outage opens the page, which has its reason and next step. A decision opens the page too, because
 * text can be written there.
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
