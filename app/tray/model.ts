import type { CauseView, HiveView, Snapshot, Until } from '../../core/board/index.ts';
import { countAsked as countAskedOf, formatAsked } from '../../core/format/index.ts';
import type { Instant } from '../../core/model/index.ts';

/** What a click runs, by its name in the table of actions. */
export interface MenuAction {
  readonly name: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** A row that runs something by itself. `key` is stable, so that a driver can change the row in place. */
export type MenuCommand =
  | { readonly is: 'command'; readonly key: string; readonly label: string; readonly action: MenuAction }
  | {
      readonly is: 'check';
      readonly key: string;
      readonly label: string;
      readonly checked: boolean;
      readonly action: MenuAction;
    };

export type MenuEntry =
  | MenuCommand
  | { readonly is: 'separator'; readonly key: string }
  /** A row without an action. */
  | { readonly is: 'text'; readonly key: string; readonly label: string }
  | {
      readonly is: 'submenu';
      readonly key: string;
      readonly label: string;
      readonly entries: readonly MenuEntry[];
      /** The command that replaces the submenu in a menu without dynamic submenus. */
      readonly instead: MenuCommand;
    };

/** Everything that a tray shows at one moment. */
export interface TrayModel {
  readonly icon: IconName;
  /** One line, for example "1 question for you, 3 unread, 1 down". */
  readonly summary: string;
  /**
   * The text beside the icon, where there is room: the unread count, with an exclamation mark before it when a person is asked.
   * Empty for none.
   */
  readonly count: string;
  /** Whether the host may draw attention to the icon: something is down or urgent, an agent waits, or a decision must be made soon. */
  readonly attention: boolean;
  readonly menu: readonly MenuEntry[];
}

/** Formats an instant for a person, relative to `now`: `formatClockTime`, or what a test puts in its place. */
export type TimeFormatter = (at: Instant, now: Instant) => string;

/** The name of a pre-rendered icon, `STATE-BADGE`. */
export interface IconName {
  readonly state: 'up' | 'down' | 'paused' | 'unknown';
  readonly badge: Badge;
}

/** `ask` is a speech bubble. */
type Badge = 'none' | 'ask' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9' | '9+';

/**
 * Chooses the icon. An outage comes first, also while notifications are paused, because then only the icon shows it. `unknown`
 * means that nobody is watched or nothing was polled yet.
 */
export function chooseIcon(snapshot: Snapshot, now: Instant): IconName {
  return { state: computeIconState(snapshot, now), badge: computeBadge(snapshot) };
}

function computeIconState(snapshot: Snapshot, now: Instant): IconName['state'] {
  if (isDown(snapshot)) return 'down';
  if (isOn(snapshot.paused, now)) return 'paused';
  return isUnseen(snapshot) ? 'unknown' : 'up';
}

/** Returns whether a persona is down, a whole hive is down before it could list its personas, or this machine has a fault. */
export function isDown(snapshot: Snapshot): boolean {
  return snapshot.totals.down > 0 || findMachineCauses(snapshot).length > 0 || isHiveDown(snapshot);
}

/** Returns the causes that concern no single persona: a damaged store, a full disk. */
export function findMachineCauses({ causes }: Snapshot): readonly CauseView[] {
  return causes.filter(({ scope, personas }) => scope === 'machine' && personas.length === 0);
}

export function isHiveDown(snapshot: Snapshot): boolean {
  return snapshot.hives.some((hive) => hive.state === 'DOWN' && isRelevantHive(snapshot, hive));
}

/** Returns false for a hive whose personas are all hidden. */
export function isRelevantHive({ personas }: Snapshot, { source }: HiveView): boolean {
  const members = personas.filter((p) => p.source === source);
  return members.length === 0 || members.some((p) => !p.hidden);
}

/** Returns whether no visible persona was polled yet. */
export function isUnseen({ personas }: Snapshot): boolean {
  return personas.every((p) => p.hidden || p.health.is === 'unseen');
}

export function isOn(until: Until, now: Instant): boolean {
  return until.is === 'forever' || (until.is === 'at' && until.at > now);
}

const BADGES: readonly Badge[] = ['none', '1', '2', '3', '4', '5', '6', '7', '8', '9'];

/** Counts what is asked of a person. */
export function countAsked({ personas, decisions, permissions }: Snapshot): ReturnType<typeof countAskedOf> {
  const agents = personas.map(({ id, agentState, questions, hidden }) => {
    return { id, agent: agentState.is, questions, hidden };
  });
  return countAskedOf({ personas: agents, decisions, permissions });
}

/** Returns whether a person is asked for something: a question or a permission prompt is open, or an agent waits. */
export function isAsked(snapshot: Snapshot): boolean {
  return formatAsked(countAsked(snapshot)) !== null;
}

/** What a person is asked for comes before mail. The unread count is in the tooltip, too. */
function computeBadge(snapshot: Snapshot): Badge {
  const { unread } = snapshot.totals;
  if (isAsked(snapshot)) return 'ask';
  if (unread.is === 'unknown') return 'none';
  if (unread.n === 9 && unread.is === 'atLeast') return '9+';
  return BADGES[unread.n] ?? '9+';
}

/** Shows the tray model. It stores the newest model, and shows it again by itself when its host comes back. */
export interface TrayDriver extends AsyncDisposable {
  show(model: TrayModel): void;
}

export interface TrayEvents {
  /** Called when a person clicked an entry. */
  onAction(action: MenuAction): void;
  /** Called with the state of the tray, in one line, when it changes: `on (...)` or `off (why)`. */
  onState(text: string): void;
}
