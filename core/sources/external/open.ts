import { isDeepStrictEqual } from 'node:util';
import { Fault } from '../../model/index.ts';
import { type Service, untilAborted } from '../../services/index.ts';
import { findOwnHome } from '../../state/index.ts';
import { type Directories, watchDirectories } from '../directories.node.ts';
import type { HiveHandle, NativeSession, PersonaOnBoard, SourceHost, WatchedHive, WatchedSource } from '../module.ts';
import { toOneLine } from '../source-tools.ts';
import type { Engine, EngineReport } from './engine.ts';
import { findPane } from './pane.ts';
import { ACTIONS, type ExternalSettings, type ExternalSource, formatAddress } from './settings.ts';

/** A source that runs. */
interface RunningSource {
  readonly setting: ExternalSource;
  /** Null when another reader does its work. */
  readonly engine: Engine | null;
  readonly hive: WatchedHive;
  handle: HiveHandle;
}

/** What `hivebar source list` and `show` ask the tray process. */
export interface SourceReport extends EngineReport {
  readonly name: string;
}

/** Watches each source that the settings name as a hive of its own. They come and go while Hivebar is running. */
export function openExternal(settings: ExternalSettings, host: SourceHost): WatchedSource {
  const { clock, log, put } = host;
  const running = new Map<string, RunningSource>();
  let directories: Directories | null = null;
  let turn: Promise<unknown> = Promise.resolve();

  /** Runs one change after the other. */
  function inTurn<T>(change: () => Promise<T>): Promise<T> {
    const done = turn.then(change);
    turn = done.catch(() => {}); // whoever asked for the change gets its error
    return done;
  }

  async function start(setting: ExternalSource): Promise<void> {
    const { startSource } = await import('./start-source.ts'); // nothing of it is needed without a source
    directories ??= watchDirectories({ clock, statOnly: false });
    const { engine, hive } = startSource(setting, {
      ...{ host, directories },
      renamed: () => void inTurn(async () => await watchAnew(setting.name)),
      onNoLines: () => void inTurn(async () => await becomeHive(setting)),
    });
    add(setting, engine, hive);
  }

  /** A server that does not speak in lines is a hive. */
  async function becomeHive(setting: ExternalSource): Promise<void> {
    if (running.get(setting.name)?.setting !== setting) return;
    await end(setting.name);
    log.info(`${setting.name}: it has no lines at /hivebar, so it is watched as a hive`);
    const { createNamedHive } = await import('./http.ts');
    add(setting, null, createNamedHive(setting.name, setting.url ?? '', host));
  }

  function add(setting: ExternalSource, engine: Engine | null, hive: WatchedHive): void {
    running.set(setting.name, { setting, engine, hive, handle: host.watch(hive) });
  }

  async function end(name: string): Promise<RunningSource | null> {
    const source = running.get(name);
    if (source === undefined) return null;
    running.delete(name);
    await source.handle.release();
    await source.hive.source[Symbol.asyncDispose]();
    return source;
  }

  async function remove(name: string): Promise<void> {
    const source = await end(name);
    if (source === null) return;
    source.handle.leave();
    put({ is: 'source', at: clock.now(), source: name, address: source.hive.address, fault: null });
    put({ is: 'withdrawn', at: clock.now(), source: name });
    log.info(`${name} is not watched any more`);
  }

  /** Its events have another `source` now, which watchers do not change. */
  async function watchAnew(name: string): Promise<void> {
    const source = running.get(name);
    if (source === undefined) return;
    await source.handle.release();
    source.handle = host.watch(source.hive);
  }

  async function follow({ sources }: ExternalSettings): Promise<void> {
    const wanted = new Map(sources.map((setting) => [setting.name, setting]));
    for (const [name, { setting }] of [...running])
      if (!isDeepStrictEqual(setting, wanted.get(name))) await (wanted.has(name) ? end(name) : remove(name));
    for (const [name, setting] of wanted) {
      if (running.has(name)) continue;
      await start(setting);
      log.info(`${name}: watching ${formatAddress(setting)}`);
    }
  }

  async function restart(name: string): Promise<void> {
    const ended = await end(name);
    if (ended === null) throw createUsageFault(`there is no source ${name}`);
    await start(ended.setting);
  }

  const service: Service = {
    name: 'sources of the settings',
    async run(signal) {
      await inTurn(async () => await follow(settings));
      await untilAborted(signal);
      await inTurn(async () => {
        await Promise.all([...running.keys()].map(end));
        directories?.[Symbol.dispose]();
        directories = null;
      });
    },
  };

  return {
    hives: [],
    services: [service],
    follow: async (changed) => await inTurn(async () => await follow(changed as ExternalSettings)),
    findSessions: (persona) => {
      const source = running.get(persona.source);
      return source === undefined ? [] : findSessions(source, persona, host);
    },
    async act(action, params, signal) {
      const { source: name, persona, text } = params as { source?: string; persona?: string; text?: string };
      switch (action) {
        case ACTIONS.changed:
          await inTurn(async () => await follow(host.settingsFile.read() as ExternalSettings));
          return { watched: [...running.keys()] };
        case ACTIONS.restart:
          await inTurn(async () => await restart(name ?? ''));
          return { restarted: name };
        case ACTIONS.reply:
          await reply(running, persona ?? '', text ?? '', signal);
          return { replied: persona };
        default:
          return { sources: [...running.values()].map(toReport) };
      }
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

function toReport({ setting: { name }, engine }: RunningSource): SourceReport {
  return { name, ...(engine === null ? READ_BY_OTHERS : engine.report()) };
}

/** What is said of a source that has no engine: its personas on the board say the rest. */
const READ_BY_OTHERS: EngineReport = {
  ...{ state: 'up', why: null, personas: null, failures: 0, lastAnswerAt: null, pid: null },
  ...{ diagnostics: [], stderr: [] },
};

async function reply(
  running: ReadonlyMap<string, RunningSource>,
  persona: string,
  text: string,
  signal: AbortSignal,
): Promise<void> {
  const [name, source] = [...running].find(([name]) => persona.startsWith(`${name}-`)) ?? [];
  if (name === undefined || source === undefined)
    throw createUsageFault(`${persona} belongs to no source of the settings`);
  if (source.setting.acts !== true) throw createUsageFault(`${name} may not act: its setting has no "acts": true`);
  await source.engine?.act({ act: 'reply', persona: persona.slice(name.length + 1), text }, signal);
}

const RESUMABLE = new Set<PersonaOnBoard['agent']>(['gone', 'unknown']);

/**
 * What a source names is run only where its setting allows it, as arguments and never through a shell. The pane of an agent that lives
 * is shown before, which runs nothing.
 */
function findSessions(
  { setting, engine }: RunningSource,
  { id, agent }: PersonaOnBoard,
  host: Pick<SourceHost, 'env' | 'disk'>,
): readonly NativeSession[] {
  if (engine === null) return [];
  const { name } = setting;
  const { line, open } = engine.findTargets(id.slice(name.length + 1));
  const session = { persona: id, id: name, cwd: line?.cwd ?? findOwnHome(), resume: null };
  const tmux = agent === 'gone' || line?.pane == null ? null : findPane(line.pane, host);
  if (tmux !== null) return [{ ...session, tmux }];
  const argv = open !== null && 'argv' in open ? open.argv : null;
  const resume = RESUMABLE.has(agent) ? (line?.resume ?? argv) : argv;
  if (resume === null) return [];
  if (setting.opens === true) return [{ ...session, resume }];
  const command = JSON.stringify(toOneLine(resume.join(' '), COMMAND_CHARS));
  const why = `${name} may not run ${command}, which it names for ${id}`;
  return [{ ...session, refusal: new Fault('source-opens', why, { is: 'source', key: name }) }];
}

const COMMAND_CHARS = 80;

function createUsageFault(message: string): Fault {
  return new Fault('usage', message, { is: 'machine', key: 'source' });
}
