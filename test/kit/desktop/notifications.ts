import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { SessionBus } from '../../../app/desktop/index.ts';
import { poll } from './poll.ts';
import { type BusMessage, listOpen, listShown, type NotificationRecord } from './recorder.ts';

const run = promisify(execFile);
const DUNST = { dest: 'org.freedesktop.Notifications', path: '/org/freedesktop/Notifications' };

/** Looks at and clicks the notifications of a rig: dunst shows them, the recorder wrote down every call. */
export class Notifications {
  readonly #bus: SessionBus;
  readonly #record: string;
  readonly #env: NodeJS.ProcessEnv;

  constructor(bus: SessionBus, record: string, env: NodeJS.ProcessEnv) {
    this.#bus = bus;
    this.#record = record;
    this.#env = env;
  }

  /** Every one so far, oldest first; one that was replaced appears once a `Notify` call. */
  async list(): Promise<NotificationRecord[]> {
    return listShown(await this.#messages());
  }

  /** Those on the screen, from the top (oldest) down. */
  async open(): Promise<NotificationRecord[]> {
    return listOpen(await this.list());
  }

  /** Waits for one on the screen whose `SUMMARY\nBODY` matches. */
  async wait(pattern: RegExp, ms?: number): Promise<NotificationRecord> {
    let seen = '';
    return poll(
      () => `notification like ${pattern}, only:\n${seen}`,
      async () => {
        const open = await this.open();
        seen = open.map(formatShown).join('\n\n');
        return open.find((s) => pattern.test(formatShown(s))) ?? null;
      },
      ms,
    );
  }

  /** A left click: the default action runs, then it closes. @throws when no action was invoked */
  async click(pattern: RegExp): Promise<NotificationRecord> {
    const shown = await this.wait(pattern);
    const open = await this.open();
    const row = open.findIndex((s) => s.id === shown.id);
    if (row === 0) {
      // dunst can run the action of its first row by a call; of the others only by a real click
      await this.#cmd('NotificationAction', 'u', [0]);
      await this.close(shown.id);
    } else {
      await this.#press(row, open.length);
    }
    await poll(
      () => `ActionInvoked of "${shown.summary}": it has no default action`,
      async () => {
        const messages = await this.#messages();
        return messages.some((m) => m.member === 'ActionInvoked' && m.payload?.data[0] === shown.id) || null;
      },
      2000,
    );
    return shown;
  }

  /** A person dismisses the newest one (reason 2). */
  async dismissNewest(): Promise<void> {
    await this.#cmd('NotificationCloseLast', '', []);
  }

  async close(id: number): Promise<void> {
    const iface = 'org.freedesktop.Notifications';
    await this.#bus.call({ ...DUNST, iface, member: 'CloseNotification', signature: 'u', body: [id] });
  }

  async #cmd(member: string, signature: string, body: readonly unknown[]): Promise<void> {
    await this.#bus.call({ ...DUNST, iface: 'org.dunstproject.cmd0', member, signature, body });
  }

  /** Presses the left button on row `row` of `rows`; the rig's dunstrc makes rows with a body equally high. */
  async #press(row: number, rows: number): Promise<void> {
    const xdotool = async (...args: string[]): Promise<string> =>
      (await run('xdotool', args, { env: this.#env })).stdout;
    const windows = (await xdotool('search', '--class', 'Dunst')).split('\n').filter((line) => line !== '');
    for (const window of windows) {
      const shape = Object.fromEntries(
        (await xdotool('getwindowgeometry', '--shell', window)).split('\n').map((line) => line.split('=')),
      ) as Record<string, string>;
      const [x, y, width, height] = [shape.X, shape.Y, shape.WIDTH, shape.HEIGHT].map(Number) as [
        number,
        number,
        number,
        number,
      ];
      if (width < 100) continue; // dunst's windows that show nothing
      const middle = Math.round(y + (height * (2 * row + 1)) / (2 * rows));
      await xdotool('mousemove', String(x + 80), String(middle), 'click', '1');
      await xdotool('mousemove', '1', '790');
      return;
    }
    throw new Error('dunst has no window on the screen');
  }

  async #messages(): Promise<BusMessage[]> {
    const text = await readFile(this.#record, 'utf8');
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    return whole
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as BusMessage);
  }
}

function formatShown(s: NotificationRecord): string {
  return `${s.summary}\n${s.body}`;
}
