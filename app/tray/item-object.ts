import type { BusInterface } from '../desktop/index.ts';
import type { TrayIcons } from './icons.node.ts';
import type { MenuAction, TrayModel } from './model.ts';

export const ITEM = 'org.kde.StatusNotifierItem';
export const ITEM_PATH = '/StatusNotifierItem';
export const MENU_PATH = '/MenuBar';

/** The actions that may raise a window. */
const OPENS: ReadonlySet<string> = new Set(['open', 'page']);

export interface ItemEvents {
  onAction(action: MenuAction): void;
  emit(member: string, body: readonly unknown[]): void;
}

/** Our icon as an `org.kde.StatusNotifierItem` object. A left click opens the status page. */
export class ItemObject {
  readonly #icons: TrayIcons;
  readonly #events: ItemEvents;
  #model: TrayModel | null = null;
  /** The host's token to raise a window. It is valid for one action. */
  #activationToken: string | null = null;

  constructor(icons: TrayIcons, events: ItemEvents) {
    this.#icons = icons;
    this.#events = events;
  }

  show(model: TrayModel): void {
    const before = this.#model;
    this.#model = model;
    const { emit } = this.#events;
    if (JSON.stringify(before?.icon) !== JSON.stringify(model.icon)) {
      emit('NewIcon', []);
      emit('NewAttentionIcon', []);
    }
    if (before?.summary !== model.summary) {
      emit('NewToolTip', []);
      emit('NewTitle', []);
    }
    if (before?.attention !== model.attention) emit('NewStatus', [this.#status()]);
  }

  /** Adds the token of the host to the action, once. */
  addToken(action: MenuAction): MenuAction {
    const token = this.#activationToken;
    this.#activationToken = null;
    return token === null || !OPENS.has(action.name)
      ? action
      : { ...action, params: { ...action.params, activationToken: token } };
  }

  #status(): string {
    return this.#model?.attention === true ? 'NeedsAttention' : 'Active';
  }

  #pixmaps(): unknown[] {
    if (this.#model === null) return [];
    return this.#icons.pixmaps(this.#model.icon).map(({ width, height, argb }) => [width, height, argb]);
  }

  #open(): readonly unknown[] {
    this.#events.onAction({ name: 'open', params: {} });
    return [];
  }

  readonly interface: BusInterface = {
    name: ITEM,
    methods: {
      Activate: { in: 'ii', out: '', run: () => this.#open() },
      SecondaryActivate: { in: 'ii', out: '', run: () => this.#open() },
      ContextMenu: { in: 'ii', out: '', run: () => [] }, // the host shows our menu itself
      Scroll: { in: 'is', out: '', run: () => [] },
      ProvideXdgActivationToken: {
        in: 's',
        out: '',
        run: ([token]) => {
          this.#activationToken = String(token);
          return [];
        },
      },
    },
    signals: {
      NewTitle: '',
      NewIcon: '',
      NewAttentionIcon: '',
      NewOverlayIcon: '',
      NewToolTip: '',
      NewStatus: 's',
      NewMenu: '',
    },
    properties: {
      Category: { signature: 's', get: () => 'Communications' },
      Id: { signature: 's', get: () => 'hivebar' },
      Title: { signature: 's', get: () => `Hivebar: ${this.#model?.summary ?? 'starting'}` },
      Status: { signature: 's', get: () => this.#status() },
      WindowId: { signature: 'i', get: () => 0 },
      IconThemePath: { signature: 's', get: () => '' },
      IconName: { signature: 's', get: () => '' },
      IconPixmap: { signature: 'a(iiay)', get: () => this.#pixmaps() },
      OverlayIconName: { signature: 's', get: () => '' },
      OverlayIconPixmap: { signature: 'a(iiay)', get: () => [] },
      AttentionIconName: { signature: 's', get: () => '' },
      AttentionIconPixmap: { signature: 'a(iiay)', get: () => this.#pixmaps() }, // some hosts then show only this pixmap
      AttentionMovieName: { signature: 's', get: () => '' },
      ToolTip: { signature: '(sa(iiay)ss)', get: () => ['', [], 'Hivebar', this.#model?.summary ?? 'starting'] },
      ItemIsMenu: { signature: 'b', get: () => false },
      Menu: { signature: 'o', get: () => MENU_PATH },
    },
  };
}
