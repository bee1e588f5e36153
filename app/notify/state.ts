import type { OpenDecision, OpenPermission, Until } from '../../core/board/index.ts';
import type { MailExtras } from '../../core/events/index.ts';
import type { Count, Instant, PersonaId, Scope, SourceId } from '../../core/model/index.ts';
import type { NotificationKey } from './channels/index.ts';
import { createPersonaRules, type PersonaRules } from './channels/index.ts';

/** One outage from a person's point of view, whatever number of personas it affects. */
export interface Cause {
  /** `Fault.scope.key`. */
  readonly key: string;
  readonly scope: Scope['is'];
  /** The source of the first persona that went down. */
  readonly source: SourceId;
  /** The persona that a click opens; null when the outage is about several. */
  readonly opens: PersonaId | null;
}

/**
 * An outage that was announced to a person, and whose end was not. It says nothing about what is down now or what was delivered
 * to an agent; those are separate facts.
 */
export interface AnnouncedOutage {
  readonly cause: Cause;
  readonly since: Instant;
  /** When the banner was last handed to the channel. */
  readonly at: Instant;
  /** When it ended, if the end could not be announced at once because of a pause, quiet hours or a mute. Otherwise null. */
  readonly over: Instant | null;
  /** The personas that the banner counted. */
  readonly personas: readonly PersonaId[];
  /** It was told of by the shared banner only. Absent otherwise, and after a restart. */
  readonly isShared?: true;
}

export type AnnouncedOutages = Readonly<Record<`outage:${string}`, AnnouncedOutage>>;

/**
 * Open decisions that were announced to a person, or that were left to the menu because of a pause, a mute or a hidden persona.
 */
export type AnnouncedDecisions = Readonly<Record<`decision:${number}`, true>>;

/** One wait of an agent that was announced to a person, or that was left to the menu, as with decisions. */
export interface AnnouncedWait {
  readonly persona: PersonaId;
  /** When the wait began; null when its reporter does not say. */
  readonly since: Instant | null;
  readonly why: string;
  readonly banner: 'own' | 'crowd';
  /** When it was announced. */
  readonly at: Instant;
  /** It is from before a restart, and nobody has said since what the agent does. Absent otherwise. */
  readonly isResumed?: true;
}

export type AnnouncedWaits = Readonly<Record<`wait:${string}`, AnnouncedWait>>;

/** The part of the state that survives the process. */
export interface SavedAnnouncements {
  readonly outages: AnnouncedOutages;
  readonly decisions: AnnouncedDecisions;
  readonly waits: AnnouncedWaits;
}

/** The newest message of a banner, as it was received. */
export interface MailPreview extends MailExtras {
  readonly id: number;
  readonly from: string;
  /** Null when the events carry no content. */
  readonly text: string | null;
}

/** A persona's mail since a person last took note of it, which means that all was read or its banner was closed by hand. */
export type MailState =
  | { readonly is: 'quiet'; readonly shownAt: Instant | null }
  | {
      readonly is: 'news';
      readonly count: number;
      /** How many of these are not in any banner yet. */
      readonly fresh: number;
      readonly latestMessage: MailPreview;
      /**
       * `away`: the fresh mail came during an interruption or in quiet hours, so all such mail shares one banner. `live`: it came
       * while Hivebar watched.
       */
      readonly came: 'away' | 'live';
      readonly shownAt: Instant | null;
      /** Whether its own banner or the shared one covers it. */
      readonly banner: 'own' | 'crowd';
    };

/** Unread urgent mail. Events do not say which message is urgent, so the rise of the count is used. */
export interface UrgentMailState {
  /** The last reported count; null before the first. */
  readonly known: number | null;
  /** How many of these are not in any banner yet. */
  readonly unannounced: number;
  /** When the count last rose. The mail itself is delivered a moment later. */
  readonly roseAt: Instant;
  /** When the first count was seen, while it is not known whether it counts new mail. Otherwise null. */
  readonly firstAt: Instant | null;
}

/** What the policy knows of one persona. */
export interface PersonaState {
  readonly id: PersonaId;
  readonly source: SourceId;
  readonly label: string;
  readonly unread: Count;
  readonly urgency: UrgentMailState;
  readonly canMarkRead: boolean;
  readonly health:
    | { readonly is: 'up' }
    /** `down` for one cause. `unseen` until the first poll after a restart, with all announced causes that concern it. */
    | { readonly is: 'down' | 'unseen'; readonly causes: readonly `outage:${string}`[] };
  readonly mail: MailState;
}

/** What is down for one cause, as seen in this run. Each persona's `health` says who is down. */
export interface OutageState {
  readonly cause: Cause;
  readonly since: Instant;
  /** What is wrong and what to do next. */
  readonly why: string;
  readonly firstAt: Instant;
  /** When it last gained or lost a persona. */
  readonly changedAt: Instant;
  /** Sources that cannot list their personas because of this cause. */
  readonly sources: readonly SourceId[];
  /** Whether a persona recovered, and did not just leave. */
  readonly recovering: boolean;
  /** The personas of a banner that is on its way to the channel. */
  readonly handed: readonly PersonaId[] | null;
  /** What the shared banner tells of it, while that is on its way to the channel; null: it has a banner of its own. */
  readonly sharedEdge: 'down' | 'up' | null;
}

/** The kinds of things that need a person at once (asks.ts). */
export type AskKind = 'decision' | 'permission' | 'wait' | 'question';

export type AskKey = `decision:${number}` | `permission:${number}` | `wait:${string}` | `question:${string}`;

/** What the policy knows of everything that needs a person at once. */
interface AskBase {
  readonly persona: PersonaId;
  readonly created: Instant;
  readonly receivedAt: Instant;
  /** `handed`: on its way to the channel. `done`: a person was shown it, or must not be. */
  readonly announceState: 'not yet' | 'handed' | 'done';
  /** Whether its own banner or the shared one covers it. */
  readonly banner: 'own' | 'crowd';
}

export interface DecisionState
  extends AskBase,
    Pick<OpenDecision, 'id' | 'persona' | 'prompt' | 'urgency' | 'blocking' | 'created'> {
  readonly kind: 'decision';
  readonly key: `decision:${number}`;
  /** When it was last announced, or received if that was before this run. */
  readonly announcedAt: Instant;
  /** The option that is chosen when nobody answers; null when none is. */
  readonly byItself: { readonly short: string; readonly expires: Instant } | null;
  /** The options that get a button. */
  readonly options: readonly { readonly id: string; readonly short: string }[];
}

/** A permission prompt that can be answered here. It is not saved, because it ends with the process. */
export interface PermissionState extends AskBase, Pick<OpenPermission, 'id' | 'tool' | 'text' | 'cut'> {
  readonly kind: 'permission';
  readonly key: `permission:${number}`;
}

/** An agent that waits for a person. */
export interface WaitState extends AskBase {
  readonly kind: 'wait';
  readonly key: `wait:${string}`;
  /** When the wait began; null when its reporter does not say. */
  readonly since: Instant | null;
  readonly why: string;
  readonly cwd: string | null;
  /** Its banner waits for `holdMs`: a permission prompt that can be answered may take its place, or was just answered. */
  readonly isHeld?: true;
}

/** Mail that a person must answer. */
export interface QuestionState extends AskBase {
  readonly kind: 'question';
  readonly key: `question:${string}`;
  readonly message: MailPreview;
}

export type AskState = DecisionState | PermissionState | WaitState | QuestionState;

/** The banners of one kind, like `bubbles` and `crowd` for mail. */
export interface AskingState {
  readonly bubbles: readonly Instant[];
  readonly waitingSince: Instant | null;
  readonly shownAt: Instant | null;
}

/**
 * What may be shown: everything; in quiet hours urgent mail only; nothing, because the person wants it so; nothing, because the
 * channel refuses.
 */
export type Voice = 'all' | 'urgent' | 'none' | 'unheard';

/** Plain JSON, which survives a round trip unchanged. */
export interface PolicyState {
  readonly personas: Readonly<Record<`mail:${string}`, PersonaState>>;
  /** The shared banner: since when a persona waits for it, and when it was last shown. */
  readonly crowd: { readonly waitingSince: Instant | null; readonly shownAt: Instant | null };
  /** When personas recently got new banners of their own, oldest first. */
  readonly bubbles: readonly Instant[];
  /** When banners of one thing, of any kind, were shown or replaced in the last minute, oldest first. */
  readonly minute: readonly Instant[];
  readonly outages: Readonly<Record<`outage:${string}`, OutageState>>;
  /** The banner that outages share: since when one waits for it, when it was last shown, and what it tells. */
  readonly sharedOutages: {
    readonly waitingSince: Instant | null;
    readonly shownAt: Instant | null;
    readonly tells: 'down' | 'up';
  };
  /** The announced outages. Only this, `announcedDecisions` and `announcedWaits` survive the process. */
  readonly announced: AnnouncedOutages;
  readonly asks: Readonly<Record<AskKey, AskState>>;
  readonly announcedDecisions: AnnouncedDecisions;
  readonly announcedWaits: AnnouncedWaits;
  readonly asking: Readonly<Record<AskKind, AskingState>>;
  /** The banners that should be on the screen now. */
  readonly open: Readonly<Partial<Record<NotificationKey, true>>>;
  readonly paused: Until;
  /** When quiet hours end. */
  readonly quiet: Until;
  /** Until when the backlog of an interruption is worked off; null when there was none. */
  readonly catchingUpUntil: Instant | null;
  /** Includes personas that have not joined or have left, because the order of facts at start does not matter. */
  readonly muted: Readonly<Record<`mail:${string}`, Until>>;
  /** Includes the same personas as `muted`. */
  readonly hidden: Readonly<Record<`mail:${string}`, true>>;
  /** After the channel refused a banner, none is tried before `until`. */
  readonly channel: { readonly is: 'hears' } | { readonly is: 'deaf'; readonly until: Instant };
}

const NOTHING_ASKED: AskingState = { bubbles: [], waitingSince: null, shownAt: null };

export function createPolicyState({
  outages: announced,
  decisions: announcedDecisions,
  waits,
}: SavedAnnouncements): PolicyState {
  const resumed = Object.entries(waits).map(([key, wait]) => [key, { ...wait, isResumed: true }] as const);
  return {
    personas: {},
    crowd: { waitingSince: null, shownAt: null },
    bubbles: [],
    minute: [],
    outages: {},
    sharedOutages: { waitingSince: null, shownAt: null, tells: 'up' },
    announced,
    asks: {},
    announcedDecisions,
    announcedWaits: Object.fromEntries(resumed),
    asking: { decision: NOTHING_ASKED, permission: NOTHING_ASKED, wait: NOTHING_ASKED, question: NOTHING_ASKED },
    // A banner may still be on the screen. To withdraw one that is not does no harm.
    open: Object.fromEntries(resumed.map(([key, { banner }]) => [banner === 'own' ? key : 'waits', true])),
    paused: { is: 'never' },
    quiet: { is: 'never' },
    catchingUpUntil: null,
    muted: {},
    hidden: {},
    channel: { is: 'hears' },
  };
}

/** The time spans of the policy in milliseconds, the numbers of banners that are too many, and what a person prefers. */
export interface NotifyRules {
  /** A persona's banner is shown or replaced at most this often, and so is the count of an outage. */
  readonly bubbleEveryMs: number;
  /** An edge of an outage waits until its cause was quiet for this long, so that 60 personas are one banner, */
  readonly holdMs: number;
  /** but never longer than this. */
  readonly holdAtMostMs: number;
  /** The wait before a source that cannot list its personas is announced: at login both may just be starting. */
  readonly sourceHoldMs: number;
  /** At most this many personas get a new banner of their own in `crowdWithinMs`; the others share one. */
  readonly crowdAbove: number;
  readonly crowdWithinMs: number;
  /**
   * At most this many decisions get a banner of their own in `crowdWithinMs`, and so with waits and questions. If there are more,
   * all new ones share one.
   */
  readonly asksAbove: number;
  /** At most this many banners of one thing in a minute, over all kinds. What is more shares the banner of its kind. */
  readonly mostPerMinute: number;
  /** How many of these are kept free of mail that is not urgent. */
  readonly reservedForNeeds: number;
  /** How many of these are kept free of outages: what asks a person comes with buttons, which a shared banner has not. */
  readonly reservedForAsks: number;
  /** The wait before the next attempt after the channel refused a banner, unless it reports earlier that it is ready. */
  readonly deafMs: number;
  /** Urgent mail, decisions of high urgency, agents that wait and questions are shown in quiet hours too. */
  readonly urgentBreaksQuiet: boolean;
  /** The setting `answerPermissions`: prompts come with a banner of their own, a moment after their wait. */
  readonly answersPermissions: boolean;
  /** The setting `remindMinutes`: a decision that is still open is announced again after this time; 0: never. */
  readonly remindMs: number;
  /** The setting `notify`. */
  readonly personas: PersonaRules;
}

export const NOTIFY_RULES: NotifyRules = {
  bubbleEveryMs: 30_000,
  holdMs: 1_000,
  holdAtMostMs: 5_000,
  sourceHoldMs: 10_000,
  crowdAbove: 5,
  crowdWithinMs: 10_000,
  asksAbove: 3,
  mostPerMinute: 14,
  reservedForNeeds: 8,
  reservedForAsks: 4,
  deafMs: 60_000,
  urgentBreaksQuiet: false,
  answersPermissions: false,
  remindMs: 0,
  personas: createPersonaRules([]),
};

/** Stores the announcements of each channel. */
export interface AnnouncementStore {
  load(channel: string): SavedAnnouncements;
  /** Replaces the stored announcements of this channel durably. @throws Fault `database` */
  save(channel: string, announcements: SavedAnnouncements): void;
}
