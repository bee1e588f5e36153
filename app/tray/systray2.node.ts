import { chmodSync, copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, type Log, realFiles } from '../../core/ports/index.ts';
import type { TrayDriver, TrayEvents } from './driver.ts';
import { buildFlatMenu, type FlatMenu, getDialect, type HelperDialect } from './flat-menu.ts';
import { startHelper, type TrayHelper } from './helper.node.ts';
import type { TrayIcons } from './icons.node.ts';
import type { TrayModel } from './model.ts';
import { decideRestart } from './restarts.ts';

/** Windows shows at most 127 UTF-16 units of a tooltip. */
const TOOLTIP_MOST = 127;

/** Makes the helper find the line by its `__id`. Without it the helper uses the first line, whatever the id. */
const BY_ID = -1;

export interface HelperTrayOptions {
  /** The path of the helper in the package. */
  readonly binary: string;
  /** A folder for us alone, created when missing. The helper is copied into it, and its temporary files stay there. */
  readonly folder: string;
  readonly platform: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly icons: TrayIcons;
  readonly events: TrayEvents;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Opens the tray with the helper binary of systray2: on macOS, on Windows, and on Linux when requested. A helper that dies is
 * started again.
 */
export function openHelperTray(options: HelperTrayOptions): TrayDriver {
  const tray = new HelperTray(options);
  tray.start();
  return tray;
}

class HelperTray implements TrayDriver {
  readonly #options: HelperTrayOptions;
  readonly #dialect: HelperDialect;
  #helper: TrayHelper | null = null;
  #starting: Promise<void> = Promise.resolve();
  #again: Disposable | null = null;
  readonly #deaths: number[] = [];
  #closed = false;
  #model: TrayModel | null = null;
  /** The most entries that did not fit so far; logged once. */
  #dropped = 0;
  /** What the running helper shows; null until it got its menu. */
  #shown: { readonly menu: FlatMenu; readonly head: string } | null = null;

  constructor(options: HelperTrayOptions) {
    this.#options = options;
    this.#dialect = getDialect(options.platform);
  }

  start(): void {
    this.#starting = this.#run().catch((error: unknown) => this.#died(String((error as Error).message ?? error)));
  }

  async #run(): Promise<void> {
    const { folder, env, clock } = this.#options;
    const file = installHelper(this.#options);
    const helper = await startHelper({ file, cwd: folder, env: { ...env, TMPDIR: prepareTempFolder(folder) } }, clock, {
      clicked: (id) => {
        const action = this.#shown?.menu.actions.get(id);
        if (action !== undefined) this.#options.events.onAction(action);
      },
      ended: (why) => this.#died(why),
    });
    if (this.#closed) return helper.end();
    this.#helper = helper;
    this.#shown = null;
    this.#options.events.onState('on (tray helper)');
    if (this.#model !== null) this.show(this.#model);
  }

  #died(why: string): void {
    this.#helper = null;
    if (this.#closed) return;
    const { clock, events, log } = this.#options;
    this.#deaths.push(clock.monotonic());
    const restart = decideRestart(this.#deaths);
    if (restart.is === 'stop') {
      log.warn('tray: the helper keeps crashing; no icon until Hivebar is started again', { why });
      events.onState(`off (tray helper: ${why})`);
      return;
    }
    log.warn('tray: the helper crashed; restarting it', { why, inMs: restart.inMs });
    events.onState(`off (tray helper: ${why}; starting again)`);
    this.#again = clock.after(restart.inMs, () => this.start());
  }

  show(model: TrayModel): void {
    this.#model = model;
    const helper = this.#helper;
    if (helper === null) return;
    const menu = buildFlatMenu(model.menu, this.#dialect);
    if (menu.dropped > this.#dropped) {
      this.#options.log.warn('tray: the menu has too many rows for the helper', { dropped: menu.dropped });
      this.#dropped = menu.dropped;
    }
    const head = this.#head(model);
    const key = JSON.stringify(head);
    const before = this.#shown;
    this.#shown = { menu, head: key };
    if (before === null) {
      helper.send({ ...head, items: menu.slots });
      return;
    }
    menu.slots.forEach((slot, index) => {
      if (JSON.stringify(slot) !== JSON.stringify(before.menu.slots[index])) {
        helper.send({ type: 'update-item', item: slot, seq_id: BY_ID });
      }
    });
    if (key !== before.head) helper.send({ type: 'update-menu', menu: { ...head, items: [] } });
  }

  #head({ icon, count, summary }: TrayModel) {
    const { icons, platform } = this.#options;
    const tooltip = `Hivebar: ${summary}`.slice(0, TOOLTIP_MOST);
    const head = (bytes: Buffer, title: string, isTemplateIcon: boolean) => ({
      icon: bytes.toString('base64'),
      title,
      tooltip,
      isTemplateIcon,
    });
    switch (platform) {
      case 'darwin':
        return head(icons.template(icon), count, true);
      case 'win32':
        return head(icons.ico(icon), '', false);
      default:
        return head(icons.png(icon), '', false); // a title would repeat the badge
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#again?.[Symbol.dispose]();
    await this.#helper?.end();
    await this.#starting;
  }
}

/** npm leaves the helper without its executable bit, and the package may belong to another user. So we run a copy. */
function installHelper({ binary, folder, platform }: HelperTrayOptions): string {
  realFiles.mkdirAll(folder, 0o700);
  chmodSync(folder, 0o700);
  const file = join(folder, platform === 'win32' ? 'hivebar-tray.exe' : 'hivebar-tray');
  const fresh = `${file}.new`;
  copyFileSync(binary, fresh);
  chmodSync(fresh, 0o755);
  realFiles.rename(fresh, file); // never written in place: a running helper keeps its own file
  return file;
}

/** The folder of the helper's icon files. It is emptied before each start. */
function prepareTempFolder(folder: string): string {
  const path = join(folder, 'tmp');
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { mode: 0o700 });
  return path;
}
