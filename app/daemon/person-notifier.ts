import { join } from 'node:path';
import type { PersonNotifier } from '../../core/daemon/index.ts';
import type { DaemonConfig } from '../../core/link/index.ts';
import { createTroubleLog } from '../../core/services/index.ts';
import { findOwnDirs, readRegular } from '../../core/state/index.ts';
import type { Machine } from '../host/machine.node.ts';
import {
  ChannelQueue,
  createDesktopChannel,
  createOffBackend,
  createOsascriptBackend,
  createTextBackend,
  listConfiguredChannels,
  type Notification,
  type OpenBackend,
} from '../notify/channels/index.ts';
import { programOnPath } from '../programs.node.ts';

/** A channel that does not accept a notification within this time counts as refused. */
const ANSWER_MS = 2000;
const MOST_SETTINGS_BYTES = 1024 * 1024;

/** The channels of a persona daemon. Disposing ends them. */
export interface DaemonNotifier extends PersonNotifier, AsyncDisposable {}

/**
 * Opens the channels by which a persona daemon notifies a person that work waits for a surface which cannot be reached otherwise:
 * the desktop, and what the setting `channels` switches on. The notification is accepted when one channel accepted it.
 */
export function openPersonNotifier({ tenant, identity }: DaemonConfig, machine: Machine): DaemonNotifier {
  const { clock, spawn, disk, log } = machine;
  const notification: Notification = {
    key: 'wake',
    is: 'wake',
    title: 'Hivebar',
    body: `Work waits for ${tenant}/${identity}`,
    urgency: 'normal',
    opens: { is: 'overview' },
    buttons: [],
  };
  const backend = chooseTextBackend(machine);
  const off = new Set<string>();
  const channels = listConfiguredChannels(readChannelSettings(machine), {
    ...{ clock, spawn, disk, log },
    openDesktop: (listener) => createDesktopChannel(backend, listener),
  }).map((configured) => {
    const channel = configured.open({
      clicked: () => {},
      closed: () => {},
      state: ({ is }) => void (is === 'off' ? off.add(configured.name) : off.delete(configured.name)),
    });
    return { channel, queue: new ChannelQueue(channel, clock, ANSWER_MS), trouble: createTroubleLog(log) };
  });
  return {
    get isAvailable() {
      return channels.some(({ channel }) => !off.has(channel.name));
    },
    async notify() {
      const open = channels.filter(({ channel }) => !off.has(channel.name));
      const sent = open.map(async ({ channel, queue, trouble }) => {
        try {
          await queue.send(notification);
          trouble.clear(`the channel ${channel.name} accepts notifications again`);
        } catch (error) {
          trouble.raise(`the channel ${channel.name} refused a notification: ${String(error)}`);
          throw error;
        }
      });
      await Promise.any(sent).catch(() => {
        throw new Error('no channel accepted the notification');
      });
    },
    async [Symbol.asyncDispose]() {
      await Promise.allSettled(channels.map(async ({ channel }) => await channel.close?.()));
    },
  };
}

/** Chooses a backend for a program that keeps no connection to the session bus and waits for no click. */
function chooseTextBackend({ env, os, spawn }: Machine): OpenBackend {
  const own = Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  switch (os) {
    case 'win32':
      return createOffBackend('a daemon cannot show notifications on Windows');
    case 'darwin': {
      const file = programOnPath('osascript', env, os, ['/usr/bin']);
      return file === null
        ? createOffBackend('osascript was not found')
        : createOsascriptBackend(file, own, spawn, false);
    }
    default: {
      const file = programOnPath('notify-send', env, os);
      return file === null ? createOffBackend('notify-send was not found') : createTextBackend(file, own, spawn);
    }
  }
}

/** Reads the setting `channels` without the program's settings reader, which a daemon has no memory for. */
function readChannelSettings({ env, disk, log }: Machine): Readonly<Record<string, unknown>> {
  const path = join(findOwnDirs(env).config, 'config.json');
  try {
    const bytes = readRegular(disk.files, path, MOST_SETTINGS_BYTES);
    if (bytes === null) return {};
    const { channels } = JSON.parse(Buffer.from(bytes).toString('utf8')) as { readonly channels?: object };
    return typeof channels === 'object' && channels !== null ? { ...channels } : {};
  } catch (error) {
    log.warn(`${path} cannot be read, so only the desktop is notified: ${String(error)}`);
    return {};
  }
}
