import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseJson } from '../../core/model/index.ts';
import { type Clock, type Log, realFiles } from '../../core/ports/index.ts';
import { decideRestart } from './helper-binary.ts';
import type { TrayIcons } from './icons.node.ts';
import { buildFlatMenu, type FlatMenu, getDialect, type HelperDialect } from './menu-object.ts';
import type { TrayDriver, TrayEvents, TrayModel } from './model.ts';

/** Windows shows at most 127 UTF-16 units of a tooltip. */
const TOOLTIP_MOST = 127;

/** Makes the helper find the line by its `__id`. Without it the helper uses the first line, whatever the id. */
const BY_ID = -1;

interface HelperTrayOptions {
  /** Returns the path of the helper, of which a copy is run. Called at each start of the helper. */
  readonly prepareBinary: () => string;
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
function installHelper({ prepareBinary, folder, platform }: HelperTrayOptions): string {
  realFiles.mkdirAll(folder, 0o700);
  chmodSync(folder, 0o700);
  const file = join(folder, platform === 'win32' ? 'hivebar-tray.exe' : 'hivebar-tray');
  const fresh = `${file}.new`;
  copyFileSync(prepareBinary(), fresh);
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

interface HelperCommand {
  /** An absolute path, so that nothing is searched in the current folder. */
  readonly file: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A running tray helper that reported that it is ready. */
interface TrayHelper {
  /** Sends one message. Does nothing once the helper has ended. */
  send(message: unknown): void;
  /** Asks the helper to exit, and kills it if it does not. Resolves when it is gone; `ended` is not called. */
  end(): Promise<void>;
}

interface HelperEvents {
  clicked(id: number): void;
  /** Called when the helper ended without being asked to. */
  ended(why: string): void;
}

const READY_MS = 10_000;
const POLITE_MS = 1000;
const LINE_MOST = 65_536;
const STDERR_CHARS = 1000;

/**
 * Starts the helper binary. It reads and writes JSON, one object per line. Its exit code says nothing (0 for a broken line, an
 * end of input and a SIGTERM alike), so the only question is whether it was asked to exit.
 * @throws Error that says why it was not ready within 10 s
 */
function startHelper(command: HelperCommand, clock: Clock, events: HelperEvents): Promise<TrayHelper> {
  return new Promise((resolve, reject) => {
    // The helper gets three pipes and nothing else. If another process held its input open, it would outlive us.
    const child = spawn(command.file, [], {
      cwd: command.cwd,
      env: { ...command.env },
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
    let state: 'starting' | 'ready' | 'leaving' | 'over' = 'starting';
    let stderr = '';

    const over = (why: string): void => {
      limit[Symbol.dispose]();
      const before = state;
      state = 'over';
      if (before === 'starting') reject(new Error(why));
      if (before === 'ready') events.ended(why);
    };
    const limit = clock.after(READY_MS, () => {
      child.kill('SIGKILL');
      over(`not ready after ${READY_MS / 1000} s`);
    });
    child.once('error', (error) => over(error.message));
    child.once('close', (code, signal) => {
      const last = stderr.trim().split('\n').at(-1) ?? '';
      over(`ended with ${signal ?? `code ${code}`}${last === '' ? '' : `: ${last}`}`);
    });
    child.stdin.on('error', () => {}); // a broken pipe: `close` follows and reports it
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-STDERR_CHARS);
    });
    onLines(child, (message) => {
      if (message.type === 'ready' && state === 'starting') {
        limit[Symbol.dispose]();
        state = 'ready';
        resolve({
          send: (out) => {
            if (state === 'ready' && child.stdin.writable) child.stdin.write(`${JSON.stringify(out)}\n`);
          },
          end: async () => {
            if (state === 'over') return;
            state = 'leaving';
            await endHelper(child, clock);
          },
        });
      }
      if (message.type === 'clicked' && typeof message.__id === 'number' && state === 'ready') {
        events.clicked(message.__id);
      }
    });
  });
}

function onLines(child: ChildProcess, listener: (message: Readonly<Record<string, unknown>>) => void): void {
  let rest = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = (lines.pop() ?? '').slice(0, LINE_MOST);
    for (const line of lines) {
      const message = parseHelperMessage(line);
      if (message !== null) listener(message);
    }
  });
}

function parseHelperMessage(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = parseJson(line);
    return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : null;
  } catch {
    return null; // GTK and the system's libraries print other lines
  }
}

/** Sends `exit`, a second later SIGTERM, then SIGKILL. A helper that stays leaves a dead icon in the bar. */
function endHelper(child: ChildProcess, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    let timer = clock.after(POLITE_MS, () => {
      child.kill('SIGTERM');
      timer = clock.after(POLITE_MS, () => child.kill('SIGKILL'));
    });
    child.once('close', () => {
      timer[Symbol.dispose]();
      resolve();
    });
    child.stdin?.end(`${JSON.stringify({ type: 'exit' })}\n`);
  });
}
