import { isAbsolute } from 'node:path';
import { writeAll } from '../../../core/ports/index.ts';
import { type Disk, openForAppend } from '../../../core/state/index.ts';
import type { ChannelModule, Notification, NotificationKey } from './channel.ts';

/** One line of the file. */
type ChannelFileLine =
  | { readonly is: 'notification'; readonly notification: Notification }
  | { readonly is: 'withdrawn'; readonly key: NotificationKey };

/** Appends each notification and each withdrawal to a file (0600) as one line of JSON: for tests, and for programs of the user. */
export const file: ChannelModule = {
  name: 'file',
  place: 'away',
  settings: {
    type: 'object',
    properties: { path: { type: 'string', minLength: 1 } },
    required: ['path'],
    additionalProperties: false,
  },
  open({ path }, { disk, listener }) {
    const target = String(path);
    listener.state({ is: 'ready', by: target });
    return {
      name: 'file',
      can: { replace: true, withdraw: true, buttons: 3 },
      send: async (notification) => appendLine(disk, target, { is: 'notification', notification }),
      withdraw: async (key) => appendLine(disk, target, { is: 'withdrawn', key }),
    };
  },
};

function appendLine(disk: Disk, path: string, line: ChannelFileLine): void {
  if (!isAbsolute(path)) throw new Error(`${path} is not an absolute path`);
  const { fd } = openForAppend(disk, path);
  try {
    writeAll(disk.files, fd, Buffer.from(`${JSON.stringify(line)}\n`));
  } finally {
    disk.files.close(fd);
  }
}
