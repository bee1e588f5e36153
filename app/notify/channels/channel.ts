import type { PersonaId } from '../../../core/model/index.ts';
import type { Clock, Log, Spawn } from '../../../core/ports/index.ts';
import type { Disk } from '../../../core/state/index.ts';
import type { ClickTarget } from '../../open/index.ts';

/**
 * The subject of a notification. A channel shows at most one notification per key, and a newer one replaces it. With the prefix,
 * a persona called `__proto__` is just another name. `wake` is that of a persona daemon, which knows no mail.
 */
export type NotificationKey =
  | `mail:${string}`
  | 'crowd'
  | `outage:${string}`
  | 'outages'
  | `decision:${number}`
  | 'decisions'
  | `wait:${string}`
  | 'waits'
  | `permission:${number}`
  | 'permissions'
  | `question:${string}`
  | 'questions'
  | 'failed'
  | 'wake'
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

/** Makes the key of an agent that waits. */
export function toWaitKey(persona: PersonaId): `wait:${string}` {
  return `wait:${persona}`;
}

/** Makes the key of a permission prompt. */
export function toPermissionKey(number: number): `permission:${number}` {
  return `permission:${number}`;
}

/** Makes the key of a question that came as mail. */
export function toQuestionKey(persona: PersonaId, id: number): `question:${string}` {
  return `question:${id}:${persona}`;
}

/** What a click runs: the name of an action in the table of actions, and its params. */
export interface NotificationAction {
  readonly name: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** The ids of the buttons, one for each option of a decision that has one. No desktop shows more than three. */
export const ANSWERS = ['answer-1', 'answer-2', 'answer-3'] as const;

/** A button beside the click on the notification itself. A channel gets as many as it can show. */
export interface NotificationButton {
  readonly id: 'open' | 'read' | 'mute' | (typeof ANSWERS)[number];
  readonly label: string;
  readonly action: NotificationAction;
}

/** One notification as plain data, complete except for the escaping, which only the channel can decide. */
export interface Notification {
  readonly key: NotificationKey;
  readonly is:
    | 'mail'
    | 'outage'
    | 'recovery'
    | 'decision'
    | 'wait'
    | 'permission'
    | 'question'
    | 'failed'
    | 'wake'
    | 'test';
  /** One line of plain text, already cleaned and cut (texts.ts). */
  readonly title: string;
  /** Plain text, already cleaned and cut; may be empty. */
  readonly body: string;
  /**
   * `critical` is for outages, for decisions that are urgent or block an agent, for agents that wait and for their permission prompts. Many desktops show it
   * even in "do not disturb" and never expire it.
   */
  readonly urgency: 'normal' | 'high' | 'critical';
  readonly opens: ClickTarget;
  /** The message with a link that a click opens instead. Absent for none. */
  readonly item?: number;
  readonly buttons: readonly NotificationButton[];
  /** With a sound or not, whatever the setting `sound` says. Absent: as it says. */
  readonly sound?: boolean;
}

/** The notifications whose click brings the session of the persona. */
const OPENS_SESSION: ReadonlySet<Notification['is']> = new Set(['mail', 'wait', 'question']);

/**
 * Returns the action for a click on the notification or on one of its buttons, or null for a button that it does not have. Mail, a
 * question and an agent that waits open the persona's session, or the link of the message. An outage opens the page, which has its reason and next step. A decision opens the page too, because
 * text can be written there.
 */
export function findNotificationAction(
  notification: Notification,
  part: 'banner' | NotificationButton['id'],
  activationToken: string | null,
): NotificationAction | null {
  const token = activationToken === null ? {} : { activationToken };
  if (part !== 'banner') {
    const action = notification.buttons.find(({ id }) => id === part)?.action ?? null;
    return action === null || part !== 'open' ? action : { ...action, params: { ...action.params, ...token } };
  }
  const { opens } = notification;
  if (opens.is === 'overview') return { name: 'page', params: token };
  const { persona } = opens;
  if (notification.item !== undefined) {
    return { name: 'open-item', params: { persona, id: notification.item, ...token } };
  }
  return { name: OPENS_SESSION.has(notification.is) ? 'open' : 'page', params: { persona, ...token } };
}

export type ChannelState =
  /** Notifications can be shown. `by` says by what, for the page and `doctor`. */
  | { readonly is: 'ready'; readonly by: string }
  /** Notifications cannot be shown now, but that may change. */
  | { readonly is: 'unavailable'; readonly why: string }
  /** There is no way to show notifications here, or they are switched off. */
  | { readonly is: 'off'; readonly why: string };

/** The part of a notification that was clicked. */
export type NotificationPart = 'banner' | NotificationButton['id'];

/** Receives what a channel reports, at any time between its opening and its closing. */
export interface ChannelListener {
  /**
   * A person clicked the notification or one of its buttons. With the `activationToken` the opened program can raise its window
   * (XDG activation). Most desktops give none.
   */
  clicked(key: NotificationKey, part: NotificationPart, activationToken: string | null): void;
  /**
   * The notification is gone, and not because of our `withdraw`. `person` means that somebody closed or clicked it, so they have
   * seen it.
   */
  closed(key: NotificationKey, by: 'person' | 'channel'): void;
  /** Called as soon as the state is known, then at each change. A channel that never calls it counts as ready. */
  state(state: ChannelState): void;
}

/**
 * One way to notify a person. Calls for one key come one after the other, never at the same time, and a few keys may be under way
 * at once. A call that takes longer than 10 seconds counts as refused, and its `signal` aborts.
 */
export interface Channel {
  readonly name: string;
  /** What the channel can do. It is never asked for more (queue.ts). */
  readonly can: {
    /** A notification replaces the shown one with the same key. */
    readonly replace: boolean;
    readonly withdraw: boolean;
    /** The number of buttons that a notification can have. */
    readonly buttons: number;
  };
  /**
   * Shows the notification. Resolves when the channel accepted it, which does not mean that anybody saw it.
   * @throws Error when it was refused; the message is shown to a person
   */
  send(notification: Notification, signal: AbortSignal): Promise<void>;
  /** Removes the notification if it is still shown. @throws Error when that was refused */
  withdraw?(key: NotificationKey, signal: AbortSignal): Promise<void>;
  /** Ends the channel. Removes what could no longer answer a click. */
  close?(): Promise<void>;
}

/** What a channel gets from the program that opens it. */
export interface ChannelHost {
  readonly clock: Clock;
  readonly spawn: Spawn;
  readonly disk: Disk;
  readonly log: Log;
  readonly listener: ChannelListener;
  /** Opens what this program shows banners on the desktop with. */
  readonly openDesktop: (listener: ChannelListener) => Channel;
}

/** A channel in the registry. Its name is also its key in the setting `channels` and the name of its page among the guides. */
export interface ChannelModule {
  readonly name: string;
  /** `desktop`: it reaches the person at this machine, who gets the answer to a failed click there. */
  readonly place: 'desktop' | 'away';
  /** The JSON schema of its entry in the setting `channels`. Null: it has no entry, and every program opens it. */
  readonly settings: object | null;
  /** `settings` was checked against the schema. A failure is reported by the channel when it is used. */
  open(settings: Readonly<Record<string, unknown>>, host: ChannelHost): Channel;
}
