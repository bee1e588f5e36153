import { join } from 'node:path';
import type { Board, Fact } from '../../core/board/index.ts';
import { type Event, isMail, readMailExtras } from '../../core/events/index.ts';
import { Fault, type PersonaId } from '../../core/model/index.ts';
import type { NativeSession, PersonaOnBoard } from '../../core/sources/module.ts';
import type { Database } from '../../core/state/index.ts';
import type { Actions, TrayControls } from '../actions/index.ts';
import type { SettingName, Settings } from '../config/tray/index.ts';
import { type NoBus, openSessionBus, type SessionBus } from '../desktop/index.ts';
import { createSessionFinder } from '../hook/index.ts';
import type { Machine } from '../host/machine.node.ts';
import { chooseBackend } from '../notify/channels/desktop/index.ts';
import {
  createDesktopChannel,
  createOffBackend,
  createPersonaRules,
  listConfiguredChannels,
  type OpenBackend,
} from '../notify/channels/index.ts';
import { NOTIFY_RULES, type Notifications, openAnnouncementStore, startNotify } from '../notify/index.ts';
import {
  type Click,
  type ClickTarget,
  checkUrl,
  createPageOpener,
  createSessionOpener,
  createUrlOpener,
  type OpenResult,
  openRedirectFiles,
  openSessionStore,
  type Session,
} from '../open/index.ts';
import { getAssetPath, ICON } from '../package.node.ts';
import { toSession } from '../sources/open-sources.ts';
import { formatFollowCommand } from '../status/index.ts';
import { copyText, openIcons, openTray, renderTray } from '../tray/index.ts';

interface SurfacesOptions {
  /** Has what applies now, whenever it is read. */
  readonly settings: Settings;
  readonly board: Board;
  readonly startupBuffer: StartupBuffer;
  readonly db: Database;
  readonly actions: Actions;
  readonly port: number;
  /** Creates a link to the page that logs its browser in once. */
  readonly createOnceLink: (persona: string | null) => string;
  /** A private directory. The tray helper is copied into it. */
  readonly runDirectory: string;
  /** Returns the sessions of a persona that announced none, as their own system keeps them. @throws Fault `exec-failed` */
  readonly findNativeSessions: (persona: PersonaOnBoard) => readonly NativeSession[];
  /** Returns the address of the page that its own system has for a persona; null for none. */
  readonly findNativePage: (persona: PersonaOnBoard) => string | null;
  /** Returns the newest events of a persona that were delivered, in any order. */
  readonly listNewestEvents: (persona: PersonaId) => readonly Event[];
  /** The directory of the settings. */
  readonly config: string;
  readonly machine: Machine;
}

export interface Surfaces extends AsyncDisposable {
  readonly openPage: TrayControls['openPage'];
  readonly openSession: TrayControls['openSession'];
  readonly openItem: TrayControls['openItem'];
  readonly pageLink: TrayControls['pageLink'];
  readonly copyFollowCommand: TrayControls['copyFollowCommand'];
  readonly testNotification: TrayControls['testNotification'];
  /** Applies these settings, which are others now. */
  follow(changed: ReadonlySet<SettingName>): Promise<void>;
}

/** What notifications are made of. They are started again when one of these is another. */
const OF_NOTIFICATIONS: readonly SettingName[] = [
  'notifications',
  'sound',
  'channels',
  'quietHours',
  'notify',
  'remindMinutes',
  'answerPermissions',
];
const NOT_ASKED_FOR: NoBus = { is: 'none', why: 'not asked for' };
const OF_SESSIONS: readonly SettingName[] = ['opener', 'urlSchemes'];

/** Starts what a person sees: tray icon and notifications, on one connection to the session bus. */
export async function startSurfaces(options: SurfacesOptions): Promise<Surfaces> {
  const { settings, board, startupBuffer, db, actions, port, machine } = options;
  const { env, clock, log } = machine;
  const openUrl = createUrlOpener({ platform: machine.os, env, clock });
  const toPersona = (opens: ClickTarget): string | null => (opens.is === 'persona' ? opens.persona : null);
  await using started = new AsyncDisposableStack();
  const redirects = started.use(openRedirectFiles(options.runDirectory, clock));
  const createUrl = (opens: ClickTarget): string => options.createOnceLink(toPersona(opens));
  const page = createPageOpener({ createUrl, port, conceal: redirects.write, openUrl });
  const findAnnounced = createSessionFinder(openSessionStore(db), options.config);
  const openSessions = () =>
    createSessionOpener({
      setting: settings.opener,
      urlSchemes: settings.urlSchemes,
      sessions: (persona) => {
        const announced = findAnnounced(persona);
        return announced.length > 0 ? announced : findNative(persona);
      },
      about: (persona) => {
        const view = board.snapshot().personas.find(({ id }) => id === persona);
        return view === undefined ? null : { source: view.source, newestId: view.latestMessages[0]?.id ?? null };
      },
      page: settings.opener.is === 'auto' ? { name: 'page', open: openOwnPage } : page,
      openUrl,
      platform: machine.os,
      env,
      clock,
      log,
    });
  let session = openSessions();

  let bus: SessionBus | NoBus = NOT_ASKED_FOR;
  started.defer(async () => {
    if (bus.is === 'bus') await bus[Symbol.asyncDispose]();
  });
  await connect();
  const openPage: Surfaces['openPage'] = (persona, activationToken) =>
    page.open({ opens: persona === null ? { is: 'overview' } : { is: 'persona', persona }, activationToken });
  let notifications: Notifications | null = null;
  if (machine.stop.aborted) return createSurfaces(started.move()); // do not start what would end at once
  const announcements = openAnnouncementStore(db);
  notifications = await openNotifications(startupBuffer);
  started.defer(async () => await notifications?.[Symbol.asyncDispose]());
  const tray = started.use(
    await openTray({
      choice: settings.tray,
      bus,
      icons: openIcons(getAssetPath('icons'), settings.iconTheme),
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
  if (tray !== null) started.use(renderTray(board, tray, clock));
  return createSurfaces(started.move());

  /** Connects to the session bus where something wants it. A later setting may be the first that does. */
  async function connect(): Promise<void> {
    const hasBus = machine.os !== 'darwin' && machine.os !== 'win32';
    if (bus !== NOT_ASKED_FOR || !hasBus || !(settings.notifications || settings.tray !== 'none')) return;
    bus = await openSessionBus({ env, log, clock, stop: machine.stop });
  }

  async function openNotifications(buffer: StartupBuffer): Promise<Notifications> {
    const openBackend = await chooseDesktopBackend();
    return startNotify({
      board,
      delivered: buffer.take(),
      channels: listConfiguredChannels(settings.channels, {
        ...{ clock, log, spawn: machine.spawn, disk: machine.disk },
        openDesktop: (listener) => createDesktopChannel(openBackend, listener),
      }),
      announcements,
      act: ({ name, params }) => void run(name, params),
      rules: {
        ...NOTIFY_RULES,
        urgentBreaksQuiet: settings.quietHours?.urgent === true,
        answersPermissions: settings.answerPermissions,
        remindMs: settings.remindMinutes * 60_000,
        personas: createPersonaRules(settings.notify),
      },
      clock,
      log,
    });
  }

  /** What was announced is saved, so nothing is announced again and nothing is lost. */
  async function restartNotifications(): Promise<void> {
    using buffer = createStartupBuffer(board);
    await notifications?.[Symbol.asyncDispose]();
    await connect();
    notifications = await openNotifications(buffer);
  }

  async function follow(changed: ReadonlySet<SettingName>): Promise<void> {
    if (OF_SESSIONS.some((name) => changed.has(name))) session = openSessions();
    if (OF_NOTIFICATIONS.some((name) => changed.has(name))) await restartNotifications();
  }

  function findOnBoard(id: PersonaId): PersonaOnBoard | null {
    const view = board.snapshot().personas.find((persona) => persona.id === id);
    return view === undefined ? null : { id, source: view.source, agent: view.agentState.is };
  }

  function findNative(id: PersonaId): readonly Session[] {
    const persona = findOnBoard(id);
    return persona === null ? [] : options.findNativeSessions(persona).map(toSession);
  }

  /** Opens the page that the own system of a persona has for it, where there is one, else the page of Hivebar. */
  async function openOwnPage(click: Click): Promise<OpenResult> {
    const id = toPersona(click.opens);
    const persona = id === null ? null : findOnBoard(id);
    const url = persona === null ? null : options.findNativePage(persona);
    if (url === null) return await page.open(click);
    await openUrl(checkUrl(url, settings.urlSchemes, 'page'), click.activationToken);
    return 'url';
  }

  function createSurfaces(stack: AsyncDisposableStack): Surfaces {
    return {
      openPage,
      pageLink: options.createOnceLink,
      openSession: (persona, activationToken) => session.open({ opens: { is: 'persona', persona }, activationToken }),
      openItem,
      copyFollowCommand,
      testNotification: async () =>
        notifications === null
          ? { taken: false, by: 'nobody', channels: [], silent: null, why: 'Hivebar is stopping' }
          : await notifications.test(),
      follow,
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  }

  async function openItem(persona: PersonaId, id: number, activationToken: string | null): Promise<OpenResult> {
    const message = options.listNewestEvents(persona).find((event) => isMail(event) && event.id === id);
    const link = message !== undefined && isMail(message) ? readMailExtras(message).link : null;
    if (link === null)
      throw new Fault('usage', `message ${id} of ${persona} has no link`, { is: 'machine', key: 'open' });
    await openUrl(checkUrl(link, settings.urlSchemes, 'link'), activationToken);
    return 'url';
  }

  /** Where nothing can be copied, the page shows the command instead. */
  async function copyFollowCommand(persona: string): Promise<void> {
    const file = board.snapshot().personas.find(({ id }) => id === persona)?.eventsFile ?? null;
    if (file === null) {
      await openPage(persona, null);
      return;
    }
    const copied = await copyText(formatFollowCommand(file), { platform: machine.os, env, clock });
    if (copied.is === 'copied') return;
    log.info(`the follow command cannot be copied: ${copied.why}; the page shows it`);
    await openPage(persona, null);
  }

  /**
   * Returns a page address for a desktop that may open it by itself, at any later time. It has no login code, which would have
   * expired by then.
   */
  function formatPlainPage(opens: ClickTarget): string {
    const persona = toPersona(opens);
    return `http://127.0.0.1:${port}/${persona === null ? '' : `#persona=${encodeURIComponent(persona)}`}`;
  }

  async function chooseDesktopBackend(): Promise<OpenBackend> {
    if (!settings.notifications) return createOffBackend('switched off in the settings');
    return await chooseBackend({
      platform: machine.os,
      arch: machine.arch,
      env,
      bus,
      identity: { desktopEntry: 'hivebar', icon: getAssetPath(ICON) },
      clock,
      spawn: machine.spawn,
      log,
      sound: settings.sound,
      toPageUrl: formatPlainPage,
    });
  }

  /** Runs the action behind a click. Nobody waits for the result, so a failure becomes a banner and a line in the log. */
  async function run(name: string, params: unknown): Promise<void> {
    try {
      const action = actions.get(name);
      if (action === undefined)
        throw new Fault('internal', `the menu asks for the unknown action ${name}`, { is: 'machine', key: 'menu' });
      await action.run(params, machine.stop);
    } catch (error) {
      const why = error instanceof Fault ? error.explain() : String(error);
      log.warn(`${name}: ${why}`);
      notifications?.failed(name, why);
    }
  }
}

/** Collects the facts that arrive before the surfaces can listen, because connecting to the desktop takes a while. */
interface StartupBuffer extends Disposable {
  /** Returns all collected facts and stops collecting. The caller must start listening in the same turn. */
  take(): readonly Fact[];
}

export function createStartupBuffer(board: Board): StartupBuffer {
  const facts: Fact[] = [];
  const listening = board.facts((fact) => {
    if (fact.is === 'delivered') facts.push(fact);
  });
  return {
    take() {
      listening[Symbol.dispose]();
      return facts.splice(0);
    },
    [Symbol.dispose]: () => listening[Symbol.dispose](),
  };
}
