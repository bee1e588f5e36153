import type { Clock } from '../../core/ports/index.ts';
import type { BusInterface, Variant } from '../desktop/index.ts';
import type { MenuAction, MenuCommand, MenuEntry } from './model.ts';

type MenuVariantFactory = (signature: string, value: unknown) => Variant;
type MenuProperties = Readonly<Record<string, readonly [signature: string, value: string | number | boolean]>>;

interface MenuNode {
  readonly id: number;
  readonly properties: MenuProperties;
  readonly children: readonly number[];
  readonly action: MenuAction | null;
}

interface MenuEvents {
  onAction(action: MenuAction): void;
  emit(member: string, body: readonly unknown[]): void;
}

/**
 * Hosts of GTK say when the menu opens and not when it closes. Rows stay where they are for this long after the last sign of a person.
 */
const OPEN_MS = 20_000;

export const MENU = 'com.canonical.dbusmenu';

/**
 * Our menu as a `com.canonical.dbusmenu` object. An entry has the same id as long as it is in the menu. Hosts get changed
 * properties and a changed layout as separate signals, so that an open menu changes in place. Rows never move under the pointer: a
 * menu with other rows is held back while a host shows the menu.
 */
export class MenuObject {
  readonly #events: MenuEvents;
  readonly #variant: MenuVariantFactory;
  readonly #clock: Clock;
  readonly #ids = new Map<string, number>();
  #lastId = 0;
  #revision = 1;
  /** Runs while a host shows the menu, as far as the host says so. */
  #open: Disposable | null = null;
  #heldMenu: readonly MenuEntry[] | null = null;
  #keys = '';
  #nodes = new Map<number, MenuNode>([[0, { id: 0, properties: {}, children: [], action: null }]]);

  constructor(variant: MenuVariantFactory, events: MenuEvents, clock: Clock) {
    this.#clock = clock;
    this.#variant = variant;
    this.#events = events;
  }

  show(menu: readonly MenuEntry[]): void {
    const keys = JSON.stringify(listKeys(menu));
    this.#heldMenu = this.#open !== null && keys !== this.#keys ? menu : null;
    if (this.#heldMenu !== null) return;
    this.#keys = keys;
    this.#draw(menu);
  }

  /** Called when a host shows the menu or a part of it. */
  #holdRows(): void {
    this.#open?.[Symbol.dispose]();
    this.#open = this.#clock.after(OPEN_MS, () => this.#releaseRows());
  }

  /** Called when the menu closed, or is about to open. Returns whether there were other rows to show. */
  #releaseRows(): boolean {
    this.#open?.[Symbol.dispose]();
    this.#open = null;
    const menu = this.#heldMenu;
    if (menu !== null) this.show(menu);
    return menu !== null;
  }

  #aboutToShow(ids: readonly number[]): number[] {
    const updated = ids.includes(0) && this.#releaseRows() ? [0] : [];
    this.#holdRows();
    return updated;
  }

  [Symbol.dispose](): void {
    this.#open?.[Symbol.dispose]();
  }

  #draw(menu: readonly MenuEntry[]): void {
    const before = this.#nodes;
    const nodes = new Map<number, MenuNode>();
    const children: number[] = [];
    nodes.set(0, { id: 0, properties: { 'children-display': ['s', 'submenu'] }, children, action: null });
    for (const entry of menu) children.push(this.#add(nodes, entry));
    for (const [key, id] of this.#ids) if (!nodes.has(id)) this.#ids.delete(key);
    this.#nodes = nodes;

    const changed = [...nodes.values()].filter((node) => {
      const old = before.get(node.id);
      return old !== undefined && !isSameProperties(old.properties, node.properties);
    });
    if (changed.length > 0) {
      const updated = changed.map((node) => [node.id, this.#values(node.properties, [])]);
      const removed = changed.flatMap((node) => {
        const removedNames = Object.keys(before.get(node.id)?.properties ?? {}).filter(
          (name) => !(name in node.properties),
        );
        return removedNames.length > 0 ? [[node.id, removedNames]] : [];
      });
      this.#events.emit('ItemsPropertiesUpdated', [updated, removed]);
    }
    if (
      before.size !== nodes.size ||
      [...nodes.values()].some((n) => !isSameIds(before.get(n.id)?.children, n.children))
    ) {
      this.#revision += 1;
      this.#events.emit('LayoutUpdated', [this.#revision, 0]);
    }
  }

  #add(nodes: Map<number, MenuNode>, entry: MenuEntry): number {
    const id = this.#ids.get(entry.key) ?? this.#newId(entry.key);
    const children: number[] = [];
    // A host may report the opening of a submenu as a click on its row, so a submenu has no action.
    const action = entry.is === 'command' || entry.is === 'check' ? entry.action : null;
    // The submenu is added before its entries. GTK hosts draw an empty submenu when they learn of the entries first.
    nodes.set(id, { id, properties: toProperties(entry), children, action });
    for (const inner of entry.is === 'submenu' ? entry.entries : []) children.push(this.#add(nodes, inner));
    return id;
  }

  #newId(key: string): number {
    this.#lastId += 1; // ids are not reused: a late click on a removed entry must not hit another
    this.#ids.set(key, this.#lastId);
    return this.#lastId;
  }

  #values(properties: MenuProperties, names: readonly string[]): Record<string, Variant> {
    const selected = Object.entries(properties).filter(([name]) => names.length === 0 || names.includes(name));
    return Object.fromEntries(selected.map(([name, [signature, value]]) => [name, this.#variant(signature, value)]));
  }

  #layout(node: MenuNode, depth: number, names: readonly string[]): unknown[] {
    const children = depth === 0 ? [] : node.children.map((id) => this.#layout(this.#node(id), depth - 1, names));
    return [node.id, this.#values(node.properties, names), children.map((child) => this.#variant('(ia{sv}av)', child))];
  }

  #node(id: unknown): MenuNode {
    const node = this.#nodes.get(Number(id));
    if (node === undefined) throw new Error(`no menu entry ${String(id)}`);
    return node;
  }

  #event(id: unknown, event: unknown): void {
    const { action } = this.#node(id);
    if (event === 'clicked' && action !== null) this.#events.onAction(action);
    if (event === 'opened') this.#holdRows();
    if (event === 'clicked' || (event === 'closed' && id === 0)) this.#releaseRows();
  }

  readonly interface: BusInterface = {
    name: MENU,
    methods: {
      GetLayout: {
        in: 'iias',
        out: 'u(ia{sv}av)',
        run: ([parent, depth, names]) => [
          this.#revision,
          this.#layout(this.#node(parent), Number(depth), names as string[]),
        ],
      },
      GetGroupProperties: {
        in: 'aias',
        out: 'a(ia{sv})',
        run: ([ids, names]) => {
          const requestedIds = ids as number[];
          const nodes = [...this.#nodes.values()].filter(
            (node) => requestedIds.length === 0 || requestedIds.includes(node.id),
          );
          return [nodes.map((node) => [node.id, this.#values(node.properties, names as string[])])];
        },
      },
      GetProperty: {
        in: 'is',
        out: 'v',
        run: ([id, name]) => {
          const value = this.#values(this.#node(id).properties, [String(name)])[String(name)];
          if (value === undefined) throw new Error(`menu entry ${String(id)} has no property ${String(name)}`);
          return [value];
        },
      },
      Event: {
        in: 'isvu',
        out: '',
        run: ([id, event]) => {
          this.#event(id, event);
          return [];
        },
      },
      EventGroup: {
        in: 'a(isvu)',
        out: 'ai',
        run: ([events]) => {
          const list = events as [number, string, unknown, number][];
          const known = list.filter(([id]) => this.#nodes.has(id));
          if (known.length === 0 && list.length > 0) throw new Error('no such menu entries');
          for (const [id, event] of known) this.#event(id, event);
          return [list.map(([id]) => id).filter((id) => !this.#nodes.has(id))];
        },
      },
      AboutToShow: {
        in: 'i',
        out: 'b',
        run: ([id]) => {
          this.#node(id);
          return [this.#aboutToShow([Number(id)]).length > 0];
        },
      },
      AboutToShowGroup: {
        in: 'ai',
        out: 'aiai',
        run: ([ids]) => {
          const unknown = (ids as number[]).filter((id) => !this.#nodes.has(id));
          return [this.#aboutToShow(ids as number[]), unknown];
        },
      },
    },
    signals: { ItemsPropertiesUpdated: 'a(ia{sv})a(ias)', LayoutUpdated: 'ui', ItemActivationRequested: 'iu' },
    properties: {
      Version: { signature: 'u', get: () => 3 },
      TextDirection: { signature: 's', get: () => 'ltr' },
      Status: { signature: 's', get: () => 'normal' },
      IconThemePath: { signature: 'as', get: () => [] },
    },
  };
}

/** The rows of a menu and their places, without what they say. */
function listKeys(menu: readonly MenuEntry[]): readonly unknown[] {
  return menu.map((entry) => (entry.is === 'submenu' ? [entry.key, listKeys(entry.entries)] : entry.key));
}

function toProperties(entry: MenuEntry): MenuProperties {
  if (entry.is === 'separator') return { type: ['s', 'separator'] };
  const label: MenuProperties = { label: ['s', entry.label.replaceAll('_', '__')] }; // a single one marks a mnemonic
  switch (entry.is) {
    case 'text':
      return { ...label, enabled: ['b', false] };
    case 'command':
      return label;
    case 'check':
      return { ...label, 'toggle-type': ['s', 'checkmark'], 'toggle-state': ['i', entry.checked ? 1 : 0] };
    case 'submenu':
      return { ...label, 'children-display': ['s', 'submenu'] };
  }
}

function isSameProperties(a: MenuProperties, b: MenuProperties): boolean {
  const names = Object.keys(b);
  return names.length === Object.keys(a).length && names.every((name) => a[name]?.[1] === b[name]?.[1]);
}

function isSameIds(a: readonly number[] | undefined, b: readonly number[]): boolean {
  return a?.length === b.length && b.every((id, i) => a[i] === id);
}

/** One line of the helper's menu in its wire form. `__id` is ours; the helper sends it back with a click. */
interface HelperMenuLine {
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
