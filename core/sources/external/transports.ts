import type { Directories } from '../directories.node.ts';
import type { SourceHost } from '../module.ts';
import type { ChildPort } from './child.node.ts';
import { buildChildEnv } from './command.ts';
import { createExecTransport } from './exec.ts';
import { SourceFault } from './faults.ts';
import { createFileTransport } from './file.ts';
import { createHttpTransport } from './http.ts';
import { createOneShotTransport } from './one-shot.ts';
import type { ExternalSource } from './settings.ts';
import type { Transport, TransportListener } from './transport.ts';

interface TransportNeeds {
  readonly host: Pick<SourceHost, 'clock' | 'disk' | 'env' | 'contentChars' | 'version'>;
  readonly children: ChildPort;
  readonly directories: Directories;
  readonly listener: TransportListener;
  /** A server does not speak in lines. */
  readonly onNoLines: () => void;
}

/** @param folder in which its program runs */
export function createSourceTransport(setting: ExternalSource, folder: string, needs: TransportNeeds): Transport {
  const { host, children, directories, listener } = needs;
  const { name, argv = [], env = {}, path = '' } = setting;
  const { clock, disk, contentChars } = host;
  const command = { argv, cwd: folder, env: buildChildEnv(host.env, env, children.platform) };
  switch (setting.is) {
    case 'exec':
      return createExecTransport({
        name,
        command,
        contentChars,
        acts: setting.acts === true,
        children,
        clock,
        listener,
      });
    case 'poll':
      return createOneShotTransport({ name, command, contentChars, children, clock, listener });
    case 'file': {
      const staleMs = setting.stale === undefined ? null : setting.stale * 1000;
      return createFileTransport({ name, path, staleMs, contentChars, disk, clock, directories, listener });
    }
    case 'http':
      return createHttpTransport({
        ...{ name, url: setting.url ?? '', version: host.version, contentChars, listener, onNoLines: needs.onNoLines },
      });
    case 'maildir':
      throw new SourceFault('source-config', name, 'mailboxes have no lines', { isFinal: true });
  }
}
