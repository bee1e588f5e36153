import type { Instant } from '../../core/model/index.ts';
import type { IconName } from './icon.ts';

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
  /** One line, for example "3 unread, 1 down". */
  readonly summary: string;
  /**
   * The text beside the icon, where there is room: the unread count, with a question mark before it when a decision is open.
   * Empty for none.
   */
  readonly count: string;
  /** Whether the host may draw attention to the icon: something is down or urgent, or must be decided soon. */
  readonly attention: boolean;
  readonly menu: readonly MenuEntry[];
}

/** Formats an instant for a person, relative to `now`: `formatClockTime`, or what a test puts in its place. */
export type TimeFormatter = (at: Instant, now: Instant) => string;
