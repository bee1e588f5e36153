import type { OpenDecision, Until } from '../../core/board/index.ts';
import type { Count, Instant, PersonaId, SourceId } from '../../core/model/index.ts';
import type { AnnouncedDecisions, AnnouncedOutages, Cause, SavedAnnouncements } from './announcements.ts';
import type { BannerKey } from './banner.ts';
import type { BannerMessage } from './banner-texts.ts';

/** A persona's mail since a person last took note of it: since it was all read, or its banner closed by hand. */
export type MailState =
  | { readonly is: 'quiet'; readonly shownAt: Instant | null }
  | {
      readonly is: 'news';
      readonly count: number;
      /** Of these, not in any banner yet. */
      readonly fresh: number;
      readonly latestMessage: BannerMessage;
      /** What is fresh came while Hivebar was away, asleep, or in quiet hours, so all of that shares one banner; or while it watched. */
      readonly came: 'away' | 'live';
      readonly shownAt: Instant | null;
      /** Whether a banner of its own or the shared one speaks of it. */
      readonly banner: 'own' | 'crowd';
    };

/** Urgent mail that is unread. Events do not say which it is, so it is told by how its number rises. */
export interface UrgentMailState {
  /** As last told; null: never. */
  readonly known: number | null;
  /** Of these, not in any banner yet. */
  readonly unannounced: number;
  /** When that last rose: the mail itself is told a moment later. */
  readonly roseAt: Instant;
  /** When the first number was seen, if nothing says yet that it counts news; null: it is told, or it was no first one. */
  readonly firstAt: Instant | null;
}

/** One persona as far as banners go. */
export interface PersonaState {
  readonly id: PersonaId;
  readonly source: SourceId;
  readonly label: string;
  readonly unread: Count;
  readonly urgency: UrgentMailState;
  readonly canMarkRead: boolean;
  readonly health:
    | { readonly is: 'up' }
    /** For one cause; or, until its first look after a restart, for all that a person was told concern it, if any. */
    | { readonly is: 'down' | 'unseen'; readonly causes: readonly `outage:${string}`[] };
  readonly mail: MailState;
}

/** What is down for one cause, as seen in this run; who, is in each persona's `reach`. */
export interface OutageState {
  readonly cause: Cause;
  readonly since: Instant;
  /** What was wrong and what to do next. */
  readonly why: string;
  readonly firstAt: Instant;
  /** When it last gained or lost somebody. */
  readonly changedAt: Instant;
  /** Sources that, for this cause, cannot even say who is there. */
  readonly sources: readonly SourceId[];
  /** Somebody was seen to recover, rather than to leave. */
  readonly recovering: boolean;
  /** A banner with these personas is on its way to the desktop. */
  readonly handed: readonly PersonaId[] | null;
}

/** A decision that is open, as far as banners go. */
export interface DecisionState
  extends Pick<OpenDecision, 'id' | 'persona' | 'prompt' | 'urgency' | 'blocking' | 'created'> {
  /** Those that get a button. */
  readonly options: readonly { readonly id: string; readonly short: string }[];
  readonly receivedAt: Instant;
  /** `handed`: on its way to the desktop; `done`: a person was shown it, or is not to be. */
  readonly announceState: 'not yet' | 'handed' | 'done';
  /** Whether a banner of its own or the shared one speaks of it. */
  readonly banner: 'own' | 'crowd';
}

/** What may be shown: everything; in quiet hours urgent mail only; nothing, as the person wants it; nothing, as the desktop refuses. */
export type Voice = 'all' | 'urgent' | 'none' | 'unheard';

/** JSON all the way down: it survives a round trip unchanged. */
export interface PolicyState {
  readonly personas: Readonly<Record<`mail:${string}`, PersonaState>>;
  /** The shared banner: since when somebody waits for it, and when it was last shown. */
  readonly crowd: { readonly waitingSince: Instant | null; readonly shownAt: Instant | null };
  /** When personas got new banners of their own lately, oldest first. */
  readonly bubbles: readonly Instant[];
  readonly outages: Readonly<Record<`outage:${string}`, OutageState>>;
  /** What a person was shown; this and `toldDecisions` are the only parts that outlive the process. */
  readonly announced: AnnouncedOutages;
  readonly decisions: Readonly<Record<`decision:${number}`, DecisionState>>;
  readonly announcedDecisions: AnnouncedDecisions;
  /** When decisions got banners of their own lately, oldest first; and the banner that they share, as `crowd` is for mail. */
  readonly asking: {
    readonly bubbles: readonly Instant[];
    readonly waitingSince: Instant | null;
    readonly shownAt: Instant | null;
  };
  /** Believed to be on the screen. */
  readonly open: Readonly<Partial<Record<BannerKey, true>>>;
  readonly paused: Until;
  /** Quiet hours go on until then. */
  readonly quiet: Until;
  /** After a gap in which nobody watched; null: there was none. */
  readonly catchingUpUntil: Instant | null;
  /** Also of personas that have not joined, or have left: the order of facts at start does not matter. */
  readonly muted: Readonly<Record<`mail:${string}`, Until>>;
  /** As with mutes. */
  readonly hidden: Readonly<Record<`mail:${string}`, true>>;
  /** After the desktop refused a banner none is tried before `until`. */
  readonly desktop: { readonly is: 'hears' } | { readonly is: 'deaf'; readonly until: Instant };
}

export function createPolicyState({
  outages: announced,
  decisions: announcedDecisions,
}: SavedAnnouncements): PolicyState {
  return {
    personas: {},
    crowd: { waitingSince: null, shownAt: null },
    bubbles: [],
    outages: {},
    announced,
    decisions: {},
    announcedDecisions,
    asking: { bubbles: [], waitingSince: null, shownAt: null },
    open: {},
    paused: { is: 'never' },
    quiet: { is: 'never' },
    catchingUpUntil: null,
    muted: {},
    hidden: {},
    desktop: { is: 'hears' },
  };
}

/** The spans of the policy, in milliseconds, how many banners are too many, and what a person prefers. */
export interface NotifyRules {
  /** A persona's banner comes, or is replaced, at most this often; so is an outage's count. */
  readonly bubbleEveryMs: number;
  /** An outage's edge waits until its cause was quiet for this long, so that 60 personas are one banner, */
  readonly holdMs: number;
  /** but never longer than this. */
  readonly holdAtMostMs: number;
  /** A source that cannot say who is there is given this long: at login both may just be starting. */
  readonly sourceHoldMs: number;
  /** At most this many personas get a new banner of their own in `crowdWithinMs`; the others share one. */
  readonly crowdAbove: number;
  readonly crowdWithinMs: number;
  /** At most this many decisions get a banner of their own in `crowdWithinMs`; with more, all that are new share one. */
  readonly decisionsAbove: number;
  /** The next attempt after the desktop refused a banner, unless it says earlier that it is ready. */
  readonly deafMs: number;
  /** Urgent mail, and decisions of high urgency, are shown in quiet hours too. */
  readonly urgentBreaksQuiet: boolean;
}

export const NOTIFY_RULES: NotifyRules = {
  bubbleEveryMs: 30_000,
  holdMs: 1_000,
  holdAtMostMs: 5_000,
  sourceHoldMs: 10_000,
  crowdAbove: 5,
  crowdWithinMs: 10_000,
  decisionsAbove: 3,
  deafMs: 60_000,
  urgentBreaksQuiet: false,
};
