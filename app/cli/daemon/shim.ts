import { type Io, toUsageFault } from '../../../core/command/index.ts';
import { formatDoorbellLine, readDaemonConfig } from '../../../core/link/index.ts';
import { Fault, parseJson } from '../../../core/model/index.ts';
import { realSpawn, type Spawn } from '../../../core/ports/index.ts';
import { createRealDisk } from '../../../core/state/index.ts';
import { createStderrLog, createStopSignal } from '../process.node.ts';
import { parseDaemonArgs } from './schema.ts';
import { resolveDaemon } from './simple-requests.ts';
import { readStdinLines } from './stdin-lines.node.ts';

/** The limit of one turn of an agent. A turn that takes longer than a day hangs. */
const TURN_MS = 24 * 60 * 60_000;

/**
 * `daemon shim`: the shim of an agent that a command wakes, such as `codex exec resume SESSION -`. It speaks the line protocol
 * of a shim (persona daemon, contract 5) on stdio. When its stdin ends, it ends the command too.
 *
 * @throws Fault `usage` or `daemon-config`
 */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const values = parseDaemonArgs('shim', args);
  const [file, ...rest] = values.rest ?? [];
  if (!file)
    throw toUsageFault(new Error('daemon shim: the command that wakes the agent is missing: give it after --'));
  const { places } = resolveDaemon(values, io);
  const config = readDaemonConfig(createRealDisk(createStderrLog(io, 'hivebar daemon shim')), places);
  if (config === null) {
    throw new Fault('daemon-config', `${places.config} does not exist`, {
      is: 'machine',
      key: `daemon:${places.name}`,
    });
  }
  const stop = createStopSignal();
  const over = new AbortController();
  const rings = createRings({
    spawn: realSpawn,
    command: {
      file,
      args: rest,
      env: removeUndefined(io.env),
      input: `${formatDoorbellLine(config)}\n`,
      timeoutMs: TURN_MS,
    },
    stop: over.signal,
  });
  for await (const line of readStdinLines(stop)) {
    const answer = answerTo(line, rings);
    if (answer !== null) io.out(`${answer}\n`);
  }
  over.abort();
  await rings.rest();
  return 0;
}

function removeUndefined(env: Io['env']): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

interface Rings {
  /** Runs the command now, or when the running command has ended. Rings that come before that count as one. */
  ring(): void;
  readonly state: 'ready' | 'busy' | 'queued';
  /** Resolves when no command runs. */
  rest(): Promise<void>;
}

interface RingsNeeds {
  readonly spawn: Spawn;
  readonly command: Parameters<Spawn['run']>[0];
  readonly stop: AbortSignal;
}

/** Runs the command one run at a time, because an agent has one turn at a time. The exit code acknowledges nothing. */
export function createRings({ spawn, command, stop }: RingsNeeds): Rings {
  let running: Promise<void> | null = null;
  let isQueued = false;
  async function runs(): Promise<void> {
    do {
      isQueued = false;
      await spawn.run(command, stop);
    } while (isQueued && !stop.aborted);
    running = null;
  }
  return {
    ring() {
      if (running === null) running = runs();
      else isQueued = true;
    },
    get state() {
      return isQueued ? 'queued' : running === null ? 'ready' : 'busy';
    },
    rest: () => running ?? Promise.resolve(),
  };
}

/** Answers a line of the daemon, as JSON; null: the line cannot be answered. */
export function answerTo(line: string, rings: Pick<Rings, 'ring' | 'state'>): string | null {
  const { id, call } = parseCall(line);
  if (typeof id !== 'number') return null;
  switch (call) {
    case 'status': {
      const { state } = rings;
      const detail_class = state === 'ready' ? 'ready' : 'busy';
      return JSON.stringify({ id, ok: true, alive: true, accepting: true, detail_class });
    }
    case 'notify_surface':
      rings.ring();
      return JSON.stringify({ id, ok: true });
    case 'resume_surface':
      return JSON.stringify({ id, ok: true }); // each run binds anew
    default:
      return JSON.stringify({ id, ok: false });
  }
}

function parseCall(line: string): { readonly id?: unknown; readonly call?: unknown } {
  try {
    const value: unknown = parseJson(line);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {}; // the line is not of this protocol
  }
}
