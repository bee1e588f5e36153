import type { BusInterface, Variant } from '../desktop/index.ts';
import type { MenuEntry, Wanted } from './model.ts';

type MakeVariant = (signature: string, value: unknown) => Variant;
type Properties = Readonly<Record<string, readonly [signature: string, value: string | number | boolean]>>;

interface Node {
  readonly id: number;
  readonly properties: Properties;
  readonly children: readonly number[];
  readonly wanted: Wanted | null;
}

export interface MenuEvents {
  onWanted(wanted: Wanted): void;
  emit(member: string, body: readonly unknown[]): void;
}

export const MENU = 'com.canonical.dbusmenu';

/**
 * Our menu as a `com.canonical.dbusmenu` object. A thing keeps its id as long as it is in the menu; hosts are told of
 * changed properties and changed layout apart, so that an open menu changes in place.
 */
export class MenuObject {
  readonly #events: MenuEvents;
  readonly #variant: MakeVariant;
  readonly #ids = new Map<string, number>();
  #lastId = 0;
  #revision = 1;
  #nodes = new Map<number, Node>([[0, { id: 0, properties: {}, children: [], wanted: null }]]);

  constructor(variant: MakeVariant, events: MenuEvents) {
    this.#variant = variant;
    this.#events = events;
  }

  show(menu: readonly MenuEntry[]): void {
    const before = this.#nodes;
    const nodes = new Map<number, Node>();
    const children: number[] = [];
    nodes.set(0, { id: 0, properties: { 'children-display': ['s', 'submenu'] }, children, wanted: null });
    for (const entry of menu) children.push(this.#add(nodes, entry));
    for (const [key, id] of this.#ids) if (!nodes.has(id)) this.#ids.delete(key);
    this.#nodes = nodes;

    const changed = [...nodes.values()].filter((node) => {
      const old = before.get(node.id);
      return old !== undefined && !sameProperties(old.properties, node.properties);
    });
    if (changed.length > 0) {
      const updated = changed.map((node) => [node.id, this.#values(node.properties, [])]);
      const removed = changed.flatMap((node) => {
        const gone = Object.keys(before.get(node.id)?.properties ?? {}).filter((name) => !(name in node.properties));
        return gone.length > 0 ? [[node.id, gone]] : [];
      });
      this.#events.emit('ItemsPropertiesUpdated', [updated, removed]);
    }
    if (
      before.size !== nodes.size ||
      [...nodes.values()].some((n) => !sameIds(before.get(n.id)?.children, n.children))
    ) {
      this.#revision += 1;
      this.#events.emit('LayoutUpdated', [this.#revision, 0]);
    }
  }

  #add(nodes: Map<number, Node>, entry: MenuEntry): number {
    const id = this.#ids.get(entry.key) ?? this.#newId(entry.key);
    const children: number[] = [];
    // A host that opens a submenu may report that as a click on its row: nothing of it is asked for.
    const wanted = entry.is === 'command' || entry.is === 'check' ? entry.wanted : null;
    // Before what is in it: GTK's hosts draw an empty submenu when they hear of its entries first.
    nodes.set(id, { id, properties: propertiesOf(entry), children, wanted });
    for (const inner of entry.is === 'submenu' ? entry.entries : []) children.push(this.#add(nodes, inner));
    return id;
  }

  #newId(key: string): number {
    this.#lastId += 1; // never given twice: a late click on what is gone must not hit another thing
    this.#ids.set(key, this.#lastId);
    return this.#lastId;
  }

  #values(properties: Properties, names: readonly string[]): Record<string, Variant> {
    const wanted = Object.entries(properties).filter(([name]) => names.length === 0 || names.includes(name));
    return Object.fromEntries(wanted.map(([name, [signature, value]]) => [name, this.#variant(signature, value)]));
  }

  #layout(node: Node, depth: number, names: readonly string[]): unknown[] {
    const children = depth === 0 ? [] : node.children.map((id) => this.#layout(this.#node(id), depth - 1, names));
    return [node.id, this.#values(node.properties, names), children.map((child) => this.#variant('(ia{sv}av)', child))];
  }

  #node(id: unknown): Node {
    const node = this.#nodes.get(Number(id));
    if (node === undefined) throw new Error(`no menu entry ${String(id)}`);
    return node;
  }

  #event(id: unknown, event: unknown): void {
    const { wanted } = this.#node(id);
    if (event === 'clicked' && wanted !== null) this.#events.onWanted(wanted);
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
          const asked = ids as number[];
          const nodes = [...this.#nodes.values()].filter((node) => asked.length === 0 || asked.includes(node.id));
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
          return [false]; // what is shown is always current
        },
      },
      AboutToShowGroup: {
        in: 'ai',
        out: 'aiai',
        run: ([ids]) => [[], (ids as number[]).filter((id) => !this.#nodes.has(id))],
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

function propertiesOf(entry: MenuEntry): Properties {
  if (entry.is === 'separator') return { type: ['s', 'separator'] };
  const label: Properties = { label: ['s', entry.label.replaceAll('_', '__')] }; // a single one marks a mnemonic
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

function sameProperties(a: Properties, b: Properties): boolean {
  const names = Object.keys(b);
  return names.length === Object.keys(a).length && names.every((name) => a[name]?.[1] === b[name]?.[1]);
}

function sameIds(a: readonly number[] | undefined, b: readonly number[]): boolean {
  return a?.length === b.length && b.every((id, i) => a[i] === id);
}
