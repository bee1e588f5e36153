import type { MenuAction, MenuCommand, MenuEntry } from './model.ts';

/** One line of the helper's menu in its wire form. `__id` is ours; the helper sends it back with a click. */
export interface HelperMenuLine {
  readonly title: string;
  readonly tooltip: string;
  readonly enabled: boolean;
  readonly checked: boolean;
  readonly hidden: boolean;
  readonly __id: number;
}

/** The differences between the three helpers. */
export interface HelperDialect {
  escape(label: string): string;
  /** On Linux the helper appends a mark to a checked title and never removes it, so there the title itself shows the state. */
  readonly checkBoxes: boolean;
}

export function getDialect(platform: string): HelperDialect {
  switch (platform) {
    case 'linux':
      return { escape: (label) => label.replaceAll('_', '__'), checkBoxes: false };
    case 'win32':
      return { escape: (label) => label.replaceAll('&', '&&'), checkBoxes: true };
    default:
      return { escape: (label) => label, checkBoxes: true };
  }
}

const SEPARATOR = '<SEPARATOR>';

/**
 * The number of lines for each part of the menu; separators divide the parts. The helper can show, hide and rename lines but
 * never add one, so all lines exist from the start.
 */
const CAPACITY = [8, 44, 8, 4] as const;

export interface FlatMenu {
  /** Always the same number of lines, in the same places. */
  readonly slots: readonly HelperMenuLine[];
  readonly actions: ReadonlyMap<number, MenuAction>;
  /** The number of entries that did not fit. */
  readonly dropped: number;
}

/** Lays the menu out in fixed lines. A submenu is replaced by the one command that its model names for this case. */
export function buildFlatMenu(menu: readonly MenuEntry[], dialect: HelperDialect): FlatMenu {
  const parts = splitParts(menu);
  const slots: HelperMenuLine[] = [];
  const actions = new Map<number, MenuAction>();
  let dropped = parts.slice(CAPACITY.length).flat().length;
  CAPACITY.forEach((capacity, index) => {
    const part = parts[index] ?? [];
    dropped += Math.max(0, part.length - capacity);
    if (index > 0) slots.push(createLine(slots.length, SEPARATOR, { enabled: true }));
    for (let i = 0; i < capacity; i += 1) {
      const entry = part[i];
      if (entry === undefined) {
        slots.push(createLine(slots.length, '', { hidden: true }));
        continue;
      }
      if (entry.is !== 'text') actions.set(slots.length + 1, entry.action);
      const checked = entry.is === 'check' && entry.checked;
      const title = entry.label === SEPARATOR ? `${SEPARATOR} ` : dialect.escape(entry.label);
      slots.push(
        createLine(slots.length, checked && !dialect.checkBoxes ? `✓ ${title}` : title, {
          enabled: entry.is !== 'text',
          checked: checked && dialect.checkBoxes,
        }),
      );
    }
  });
  return { slots, actions, dropped };
}

function createLine(index: number, title: string, properties: Partial<HelperMenuLine>): HelperMenuLine {
  return { title, tooltip: '', enabled: false, checked: false, hidden: false, ...properties, __id: index + 1 };
}

type FlatMenuEntry = MenuCommand | Extract<MenuEntry, { is: 'text' }>;

function splitParts(menu: readonly MenuEntry[]): FlatMenuEntry[][] {
  const parts: FlatMenuEntry[][] = [[]];
  for (const entry of menu) {
    if (entry.is === 'separator') parts.push([]);
    else parts.at(-1)?.push(entry.is === 'submenu' ? entry.instead : entry);
  }
  return parts;
}
