import { join } from 'node:path';
import type { Board } from '../../core/board/index.ts';
import { Fault } from '../../core/model/index.ts';
import type { Database } from '../../core/state/index.ts';
import type { Actions, House } from '../actions/index.ts';
import { assetPath } from '../assets.node.ts';
import type { Settings } from '../config/tray/index.ts';
import { type NoBus, openSessionBus, type SessionBus } from '../desktop/index.ts';
import {
  chooseDriver,
  keptAnnouncements,
  noDriver,
  type OpenDriver,
  type Opens,
  startNotify,
} from '../notify/index.ts';
import { pageOpener, urlOpener } from '../open/index.ts';
import { openIcons, openTray, renderTray } from '../tray/index.ts';
import type { Machine } from './machine.ts';
import type { ToldEarly } from './told-early.ts';

export interface SurfacesOptions {
  readonly settings: Settings;
  readonly board: Board;
  readonly early: ToldEarly;
  readonly db: Database;
  readonly actions: Actions;
  readonly port: number;
  /** Private; the tray helper is copied there. */
  readonly runDirectory: string;
  readonly machine: Machine;
}

export interface Surfaces extends AsyncDisposable {
  readonly openPage: House['openPage'];
}

/** Starts what a person sees: tray icon and notifications, on one connection to the session bus. */
export async function startSurfaces(options: SurfacesOptions): Promise<Surfaces> {
  const { settings, board, early, db, actions, port, machine } = options;
  const { env, clock, log } = machine;
  const urlOf = (opens: Opens): string =>
    `http://127.0.0.1:${port}/${opens.is === 'persona' ? `#${encodeURIComponent(opens.persona)}` : ''}`;
  const opener = pageOpener(urlOf, port, urlOpener({ platform: machine.os, env, clock }));

  await using started = new AsyncDisposableStack();
  const wantsBus =
    machine.os !== 'darwin' && machine.os !== 'win32' && (settings.notifications || settings.tray !== 'none');
  const bus: SessionBus | NoBus = wantsBus
    ? await openSessionBus({ env, log, clock, stop: machine.stop })
    : { is: 'none', why: 'not asked for' };
  if (bus.is === 'bus') started.use(bus);
  const openPage: Surfaces['openPage'] = (persona, activationToken) =>
    opener.open({ opens: persona === null ? { is: 'overview' } : { is: 'persona', persona }, activationToken });
  if (machine.stop.aborted) return surfacesOf(openPage, started.move()); // nothing is started that would end at once
  const openDriver = await notifyDriver();
  const announcements = keptAnnouncements(db);
  started.use(startNotify({ board, told: early.take(), openDriver, announcements, opener, clock, log }));
  const tray = started.use(
    await openTray({
      choice: settings.tray,
      bus,
      icons: openIcons(assetPath('icons')),
      helperFolder: join(options.runDirectory, 'tray-helper'),
      env,
      events: {
        onAction: ({ name, params }) => void run(name, params),
        onState: (state) => board.put({ is: 'surface', at: clock.now(), surface: 'tray', state }),
      },
      clock,
      log,
    }),
  );
  started.use(renderTray(board, tray, clock));
  return surfacesOf(openPage, started.move());

  async function notifyDriver(): Promise<OpenDriver> {
    if (!settings.notifications) return noDriver('switched off in the settings');
    return await chooseDriver({
      platform: machine.os,
      arch: machine.arch,
      env,
      bus,
      identity: { desktopEntry: 'hivebar', icon: assetPath('icons/44/up-none.png') },
      clock,
      spawn: machine.spawn,
      log,
      pageOf: urlOf,
    });
  }

  /** What a menu entry asks for. Nobody waits for the answer, so a failure goes to the log. */
  async function run(name: string, params: unknown): Promise<void> {
    try {
      const action = actions.get(name);
      if (action === undefined)
        throw new Fault('internal', `the menu asks for ${name}, which is no action`, { is: 'machine', key: 'menu' });
      await action.run(params, machine.stop);
    } catch (error) {
      log.warn(`${name}: ${error instanceof Fault ? error.explain() : String(error)}`);
    }
  }
}

function surfacesOf(openPage: Surfaces['openPage'], stack: AsyncDisposableStack): Surfaces {
  return { openPage, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}
