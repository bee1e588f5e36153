import { dirname, join } from 'node:path';
import { type Fault, toFault } from '../../model/index.ts';
import { ensurePrivateDir } from '../../state/index.ts';
import type { Directories } from '../directories.node.ts';
import type { SourceHost, WatchedHive } from '../module.ts';
import { realChildren } from './child.node.ts';
import { createEngine, type Engine } from './engine.ts';
import { SourceFault } from './faults.ts';
import { createMailboxEngine } from './mailboxes.ts';
import { DEFAULT_EVERY_S, EXTERNAL, type ExternalSource, formatAddress } from './settings.ts';
import { openExternalSource } from './source.ts';
import type { Transport, TransportListener } from './transport.ts';
import { createSourceTransport } from './transports.ts';

interface StartNeeds {
  readonly host: SourceHost;
  readonly directories: Directories;
  /** Called when its watchers have to begin anew. */
  readonly renamed: () => void;
  /** Called when a server does not speak in lines. */
  readonly onNoLines: () => void;
}

interface StartedSource {
  readonly engine: Engine;
  readonly hive: WatchedHive;
}

/** Begins to run a source of the settings. */
export function startSource(setting: ExternalSource, needs: StartNeeds): StartedSource {
  const { host, renamed } = needs;
  const { clock, log, put } = host;
  const { name } = setting;
  const engine =
    setting.is === 'maildir'
      ? createMailboxEngine(setting, host)
      : createEngine({
          ...{ name, clock, log, positions: host.positions, readMemory: realChildren.readMemory },
          setKey: JSON.stringify([setting.is, setting.argv, setting.cwd, setting.path, setting.layout, setting.url]),
          everyMs: (setting.every ?? DEFAULT_EVERY_S) * 1000,
          stalledAfterMs: setting.stalledAfter === undefined ? null : setting.stalledAfter * 1000,
          isUrlAllowed: createUrlCheck(host),
          draw: () => Number.parseInt(host.random.hex(1), 16) / 256,
          createTransport: (listener) => createTransport(setting, listener, needs),
          reportFault: (fault) =>
            put({ is: 'source', at: clock.now(), source: name, address: formatAddress(setting), fault }),
          renamed,
        });
  const source = openExternalSource(name, engine, setting.acts === true, log);
  const hive: WatchedHive = {
    ...{ source, address: formatAddress(setting), identity: ({ address }) => [EXTERNAL, address, name] },
    ...{ named: engine.named, holdMs: null, kind: 'disk', deliversBacklog: true },
    // A folder may hold years of mail; a program decides what is new.
    ...(setting.is === 'maildir' ? {} : { replaysAll: true as const }),
  };
  return { engine, hive };
}

function createTransport(setting: ExternalSource, listener: TransportListener, needs: StartNeeds): Transport {
  const { host, directories, onNoLines } = needs;
  const { name } = setting;
  try {
    checkSettingsFile(host, name);
    const folder = setting.cwd ?? join(host.state, 'sources', name);
    if (setting.cwd === undefined && setting.argv !== undefined)
      for (const path of [dirname(folder), folder]) ensurePrivateDir(host.disk, path);
    return createSourceTransport(setting, folder, { host, children: realChildren, directories, listener, onNoLines });
  } catch (error) {
    return createRefusal(toFault(error, { is: 'source', key: name }), name);
  }
}

function createUrlCheck({ settingsFile }: SourceHost): (url: string) => boolean {
  let schemes: readonly string[] | null = null;
  return (url) => {
    schemes ??= (settingsFile.read() as { readonly urlSchemes?: readonly string[] }).urlSchemes ?? [];
    return schemes.includes(new URL(url).protocol.slice(0, -1));
  };
}

const OTHERS = 0o077;

/** Whoever may write the settings decides what is run. @throws SourceFault */
function checkSettingsFile({ disk, settingsFile: { path } }: SourceHost, name: string): void {
  const stat = disk.files.lstat(path);
  if (stat === null || stat.kind !== 'file') return;
  const defect =
    disk.uid !== null && stat.uid !== disk.uid
      ? 'belongs to another user'
      : disk.uid !== null && (stat.mode & OTHERS) !== 0
        ? `may be read by others (mode ${stat.mode.toString(8)}, not 600)`
        : null;
  if (defect !== null)
    throw new SourceFault('source-config', name, `nothing is run: ${path} ${defect}`, { isFinal: true });
}

/** Stands for a source that may not be run. */
function createRefusal(fault: Fault, name: string): Transport {
  const error =
    fault instanceof SourceFault ? fault : new SourceFault(fault.code, name, fault.message, { isFinal: true });
  const refuse = async (): Promise<never> => {
    throw error;
  };
  return { pid: null, isCheap: true, start: refuse, poll: refuse, [Symbol.asyncDispose]: async () => {} };
}
