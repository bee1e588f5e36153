import type { IconName } from './icon.ts';

/** What a click asks for, by the name of the action table. */
export interface MenuAction {
  readonly name: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** A row that does something by itself. `key` stays the same for the same thing, so that a driver can change it in place. */
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
  /** Only to be read. */
  | { readonly is: 'text'; readonly key: string; readonly label: string }
  | {
      readonly is: 'submenu';
      readonly key: string;
      readonly label: string;
      readonly entries: readonly MenuEntry[];
      /** Stands in its place where the menu has no submenus that come and go. */
      readonly instead: MenuCommand;
    };

/** Everything a tray shows at one moment. */
export interface TrayModel {
  readonly icon: IconName;
  /** One line: "3 unread, 1 down". */
  readonly summary: string;
  /** The unread number in full where it fits beside the icon, after a question mark when something is to be decided; empty for none. */
  readonly count: string;
  /** The host may draw attention to the icon: something is down, urgent, or to be decided soon. */
  readonly attention: boolean;
  readonly menu: readonly MenuEntry[];
}
