import { readFile } from 'node:fs/promises';
import { BusError, type SessionBus, type Variant } from '../../../app/desktop/index.ts';
import { poll } from './poll.ts';

/** One registered icon, as a tray host sees it. */
export interface TrayItem {
  readonly service: string;
  readonly path: string;
  readonly pid: number;
  readonly id: string;
  readonly category: string;
  readonly status: string;
  readonly title: string;
  readonly tooltip: string;
  /** A file, for hosts that draw from a file. */
  readonly iconName: string;
  readonly menu: string;
}

export interface MenuEntry {
  readonly id: number;
  /** As a person reads it: `_` marks a mnemonic, `__` is one underscore. */
  readonly label: string;
  readonly is: 'entry' | 'separator';
  readonly enabled: boolean;
  readonly visible: boolean;
  /** Null: no check box. */
  readonly checked: boolean | null;
  readonly children: readonly MenuEntry[];
}

export interface Pixmap {
  readonly width: number;
  readonly height: number;
  /** ARGB32, network byte order. */
  readonly argb: Buffer;
}

export type TrayIcon =
  | { readonly is: 'file'; readonly bytes: Buffer }
  | { readonly is: 'pixmaps'; readonly pixmaps: readonly Pixmap[] };

/** Reads and works tray icons over D-Bus, as a host does. No pixel is looked at. */
export class Tray {
  readonly #bus: SessionBus;
  readonly #pid: number | null;

  constructor(bus: SessionBus, pid: number | null = null) {
    this.#bus = bus;
    this.#pid = pid;
  }

  /** Only the icon of one process; without it, the icon that was registered last is meant. */
  of(pid: number): Tray {
    return new Tray(this.#bus, pid);
  }

  async items(): Promise<TrayItem[]> {
    const registered = await this.#registered();
    const items = await Promise.all(registered.map((entry) => this.#item(entry)));
    return items.filter((item) => item !== null && (this.#pid === null || item.pid === this.#pid)) as TrayItem[];
  }

  async item(ms?: number): Promise<TrayItem> {
    let others = '';
    return poll(
      () => `tray icon${others}`,
      async () => {
        const items = await this.items();
        if (items.length === 0) others = await this.#registered().then((names) => `; registered: ${names.join(' ')}`);
        return items.at(-1) ?? null;
      },
      ms,
    );
  }

  /** No watcher: nothing is registered. */
  #registered(): Promise<string[]> {
    const watcher = 'org.kde.StatusNotifierWatcher';
    const items = 'RegisteredStatusNotifierItems';
    return this.#property<string[]>(watcher, '/StatusNotifierWatcher', watcher, items).catch(() => []);
  }

  /** Asks `AboutToShow` first, as a host does before it draws. */
  async menu(): Promise<readonly MenuEntry[]> {
    await this.open();
    return this.openMenu();
  }

  /** Asks as a host does before it shows the menu. */
  async open(): Promise<void> {
    await this.#ask('AboutToShow', 'i', [0]);
  }

  /** The menu as a host has it that shows it already. */
  async openMenu(): Promise<readonly MenuEntry[]> {
    const [, root] = await this.#ask('GetLayout', 'iias', [0, -1, []]);
    return toMenuEntry(root as RawEntry).children;
  }

  async #ask(member: string, signature: string, body: readonly unknown[]): Promise<readonly unknown[]> {
    const { service, menu } = await this.item();
    return this.#bus.call({ dest: service, path: menu, iface: 'com.canonical.dbusmenu', member, signature, body });
  }

  /** Reports as a host does that the whole menu opened or closed. */
  async report(event: 'opened' | 'closed'): Promise<void> {
    await this.#ask('Event', 'isvu', [0, event, this.#bus.variant('s', ''), 0]);
  }

  /** The visible labels, indented two spaces a level; `---` for a separator, `[x]`/`[ ]` for a check box. */
  async text(): Promise<string> {
    return lines(await this.menu(), '').join('\n');
  }

  /** Clicks by label; `Parent/Child` for an entry of a submenu. @throws when no such entry can be clicked */
  async click(label: string): Promise<void> {
    const menu = await this.menu();
    const id = findEntryId(menu, label);
    if (id === null) throw new Error(`no entry to click: ${label}\n${lines(menu, '').join('\n')}`);
    await this.#ask('Event', 'isvu', [id, 'clicked', this.#bus.variant('s', ''), 0]).catch((error: unknown) => {
      // Who quits at a click may be gone before the answer.
      if (!(error instanceof BusError && error.errorName === 'org.freedesktop.DBus.Error.NoReply')) throw error;
    });
  }

  /** The left click on the icon. */
  async activate(): Promise<void> {
    const { service, path } = await this.item();
    const iface = 'org.kde.StatusNotifierItem';
    await this.#bus.call({ dest: service, path, iface, member: 'Activate', signature: 'ii', body: [0, 0] });
  }

  async waitLabel(pattern: RegExp, ms?: number): Promise<string> {
    let seen = '';
    return poll(
      () => `menu entry like ${pattern}, only:\n${seen}`,
      async () => {
        const all = flat(await this.menu());
        seen = all.map((e) => e.label).join('\n');
        return all.find((e) => pattern.test(e.label))?.label ?? null;
      },
      ms,
    );
  }

  async icon(): Promise<TrayIcon> {
    const item = await this.item();
    if (item.iconName.startsWith('/')) return { is: 'file', bytes: await readFile(item.iconName) };
    const iface = 'org.kde.StatusNotifierItem';
    const raw = await this.#property<[number, number, Buffer][]>(item.service, item.path, iface, 'IconPixmap');
    return {
      is: 'pixmaps',
      pixmaps: raw.map(([width, height, bytes]) => ({ width, height, argb: Buffer.from(bytes) })),
    };
  }

  async #property<T>(dest: string, path: string, interfaceName: string, name: string): Promise<T> {
    const iface = 'org.freedesktop.DBus.Properties';
    const [value] = await this.#bus.call({
      dest,
      path,
      iface,
      member: 'Get',
      signature: 'ss',
      body: [interfaceName, name],
    });
    return (value as Variant).value as T;
  }

  /** A watcher lists `NAME`, `NAME/PATH` or `NAME@/PATH`. */
  async #item(entry: string): Promise<TrayItem | null> {
    const slash = entry.indexOf('/');
    const service = (slash < 0 ? entry : entry.slice(0, slash)).replace(/@$/, '');
    const path = slash < 0 ? '/StatusNotifierItem' : entry.slice(slash);
    try {
      const [all] = await this.#bus.call({
        dest: service,
        path,
        iface: 'org.freedesktop.DBus.Properties',
        member: 'GetAll',
        signature: 's',
        body: ['org.kde.StatusNotifierItem'],
      });
      const [pid] = await this.#bus.call({
        dest: 'org.freedesktop.DBus',
        path: '/org/freedesktop/DBus',
        iface: 'org.freedesktop.DBus',
        member: 'GetConnectionUnixProcessID',
        signature: 's',
        body: [service],
      });
      const p = all as Record<string, Variant>;
      const text = (name: string): string => String(p[name]?.value ?? '');
      const tooltip = p.ToolTip?.value as [string, unknown, string, string] | undefined;
      return {
        service,
        path,
        pid: pid as number,
        id: text('Id'),
        category: text('Category'),
        status: text('Status'),
        title: text('Title'),
        tooltip: tooltip?.[2] ?? '',
        iconName: text('IconName'),
        menu: text('Menu'),
      };
    } catch {
      return null; // left between the list and the question
    }
  }
}

type RawEntry = readonly [number, Record<string, Variant>, readonly Variant[]];

function toMenuEntry([id, properties, children]: RawEntry): MenuEntry {
  const is = (name: string, usual: unknown): unknown => properties[name]?.value ?? usual;
  return {
    id,
    label: String(is('label', '')).replace(/_(_?)/g, '$1'),
    is: is('type', 'standard') === 'separator' ? 'separator' : 'entry',
    enabled: is('enabled', true) === true,
    visible: is('visible', true) === true,
    checked: is('toggle-type', '') === 'checkmark' ? is('toggle-state', 0) === 1 : null,
    children: children.map((child) => toMenuEntry(child.value as RawEntry)),
  };
}

function flat(entries: readonly MenuEntry[]): MenuEntry[] {
  return entries.filter((e) => e.visible).flatMap((e) => [e, ...flat(e.children)]);
}

function lines(entries: readonly MenuEntry[], indent: string): string[] {
  return entries
    .filter((e) => e.visible)
    .flatMap((e) => {
      const box = e.checked === null ? '' : e.checked ? '[x] ' : '[ ] ';
      const off = e.enabled ? '' : ' (off)';
      const line = e.is === 'separator' ? '---' : `${box}${e.label}${off}`;
      return [indent + line, ...lines(e.children, `${indent}  `)];
    });
}

/** By its whole path, else wherever the label stands: a row's own "Poll now" is not meant before that of the top level. */
function findEntryId(entries: readonly MenuEntry[], wanted: string): number | null {
  return (
    found(entries, '', (_, path) => path === wanted) ??
    found(entries, '', (_, path) => path === wanted, stripNewest) ??
    found(entries, '', (e) => e.label === wanted)
  );
}

/** The row of a persona without its newest message. */
function stripNewest(label: string): string {
  return label.replace(/^(.* - [^·]*\bunread\b[^·]*) · .*$/, '$1');
}

function found(
  entries: readonly MenuEntry[],
  above: string,
  isIt: (entry: MenuEntry, path: string) => boolean,
  toName: (label: string) => string = (label) => label,
): number | null {
  for (const e of entries) {
    if (!e.visible || !e.enabled || e.is === 'separator') continue;
    const name = toName(e.label);
    if (isIt(e, above + name)) return e.id;
    const inside = found(e.children, `${above}${name}/`, isIt, toName);
    if (inside !== null) return inside;
  }
  return null;
}
