import type { Board } from '../../core/board/index.ts';
import type { Decisions } from '../../core/inbox/decisions/index.ts';
import { Fault, toFault } from '../../core/model/index.ts';
import type { Clock, Log } from '../../core/ports/index.ts';
import { findActionSetting } from '../../core/sources/derived.ts';
import type { MarkReadSelection, Reply, ReplyResult } from '../../core/sources/index.ts';
import type { PreferenceStore, TrayControls } from '../actions/index.ts';
import type { LiveSettings } from '../config/tray/index.ts';
import type { LocalMailbox } from '../local/mailbox-api.ts';
import type { Permissions } from '../local/permissions.ts';
import type { QuietHoursService } from '../local/quiet-hours-service.ts';
import type { LoginStart } from '../service/index.ts';
import type { HiveWatchers } from '../sources/hive-watchers.ts';
import type { Sources } from '../sources/open-sources.ts';
import type { Surfaces } from './surfaces.ts';

/** The parts of the tray process that actions read or change, and the stores behind them. */
export interface TrayControlsOptions {
  readonly board: Board;
  readonly clock: Clock;
  readonly log: Log;
  /** The watchers of all hives. Those of projects come and go. */
  readonly watchers: readonly HiveWatchers[];
  readonly sources: Pick<Sources, 'poll' | 'act'>;
  readonly mailbox: Pick<LocalMailbox, 'markUnread' | 'remove'>;
  readonly preferences: PreferenceStore;
  readonly quietHours: QuietHoursService;
  readonly login: LoginStart;
  readonly decisions: Decisions;
  readonly permissions: Pick<Permissions, 'answer'>;
  readonly hiveChanged: () => void;
  readonly settings: Pick<LiveSettings, 'reload'>;
  /** Null before the surfaces are started. */
  readonly surfaces: () => Surfaces | null;
  readonly quit: () => void;
}

/** Creates what the actions of menu, banner, page and command line call in the tray process. */
export function createTrayControls(options: TrayControlsOptions): TrayControls {
  const { board, clock, log, watchers, sources, preferences, quietHours, login } = options;
  const surfaces = (): Surfaces => {
    const started = options.surfaces();
    if (started !== null) return started;
    throw new Fault('usage', 'hivebar is still starting: try again in a moment', { is: 'machine', key: 'action' });
  };
  return {
    knows: (persona) => board.snapshot().personas.some(({ id }) => id === persona),
    poll(persona) {
      if (persona === null) sources.poll();
      return poll(watchers, persona);
    },
    hiveChanged: options.hiveChanged,
    settingsChanged: options.settings.reload,
    decide: options.decisions.respond,
    permit: options.permissions.answer,
    mute(persona, until) {
      preferences.setMute(persona, until);
      board.put({ is: 'muted', at: clock.now(), persona, until });
    },
    hide(persona, hidden) {
      preferences.setHidden(persona, hidden);
      board.put({ is: 'hidden', at: clock.now(), persona, hidden });
    },
    markRead: (persona, which) => markRead(watchers, persona, which),
    markUnread: options.mailbox.markUnread,
    deleteMessage: options.mailbox.remove,
    reply: (persona, reply, signal) => sendReply({ watchers, log }, persona, reply, signal),
    actOnSource: sources.act,
    openSession: (persona, token) => surfaces().openSession(persona, token),
    openItem: (persona, id, token) => surfaces().openItem(persona, id, token),
    openPage: (persona, token) => surfaces().openPage(persona, token),
    pageLink: (persona) => surfaces().pageLink(persona),
    copyFollowCommand: (persona) => surfaces().copyFollowCommand(persona),
    quietHours: (on) => quietHours.turn(on),
    async startAtLogin(on) {
      await login.set(on);
      board.put({ is: 'autostart', at: clock.now(), on });
    },
    testNotification: () => surfaces().testNotification(),
    quit: options.quit,
  };
}

function poll(hiveWatchers: readonly HiveWatchers[], persona: string | null): boolean {
  if (persona === null) {
    for (const watchers of hiveWatchers) watchers.poll();
    return true;
  }
  for (const { scheduler, findAddress } of hiveWatchers) {
    const address = findAddress(persona);
    if (address === null) continue;
    scheduler.wake(address);
    return true;
  }
  return false;
}

function markRead(hiveWatchers: readonly HiveWatchers[], persona: string, which: MarkReadSelection): number {
  for (const watchers of hiveWatchers) {
    const marked = watchers.markRead(persona, which);
    if (marked !== null) return marked;
  }
  const message = `mail of ${JSON.stringify(persona)} cannot be marked as read here: its hive does not support it`;
  throw new Fault('usage', message, { is: 'machine', key: 'action' });
}

/**
 * Sends it once. The log says that it was asked for before it says what came of it, and never the text.
 * @throws Fault that names the setting where no source sends it; or why it was not sent
 */
export async function sendReply(
  { watchers: hiveWatchers, log }: { readonly watchers: readonly Pick<HiveWatchers, 'reply'>[]; readonly log: Log },
  persona: string,
  reply: Reply,
  signal: AbortSignal,
): Promise<ReplyResult> {
  const about = `reply of a person to ${persona}`;
  for (const watchers of hiveWatchers) {
    const sending = watchers.reply(persona, reply, signal);
    if (sending === null) continue;
    log.info(`${about}: ${[...reply.text].length} characters${reply.message === null ? '' : `, to ${reply.message}`}`);
    try {
      const result = await sending;
      log.info(`${about}: ${result.is}: ${result.says}`);
      return result;
    } catch (error) {
      log.warn(`${about}: not sent: ${toFault(error, { is: 'persona', key: persona }).message}`);
      throw error;
    }
  }
  const setting = findActionSetting(persona);
  const next =
    setting === null
      ? 'its inbox system has no way to do it; hivebar send writes to personas of the local hive'
      : `add "actions": true to the setting ${setting}, which hivebar config show prints, and restart Hivebar`;
  throw new Fault('usage', `no reply is sent to ${persona}: ${next}`, { is: 'machine', key: 'action' });
}
