import type { Event } from '../events/index.ts';
import { Fault, type Scope } from '../model/index.ts';
import { type ChildCommand, type Log, type ProcessEnd, runByCmd, type Spawn } from '../ports/index.ts';
import { toExecEnv } from './exec-env.ts';
import { createSerial } from './serial.ts';
import { type Ack, EMPTY_TAIL, type Sink } from './sink.ts';
import { createTroubleLog } from './trouble-log.ts';

export interface ExecSinkOptions {
  /** The command of `--exec`. It goes to the shell unchanged. Event text reaches it only through the environment. */
  readonly command: string;
  readonly spawn: Spawn;
  readonly log: Log;
  readonly os: NodeJS.Platform;
  /** The environment that the command inherits beside the event. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

const TIMEOUT_MS = 10_000;

/**
 * Runs a command for every event, one after the other. Exit 0 acknowledges the event, and the first failure ends the
 * batch (Kijito spec 6.2; contract j, traps 1-2). After 10 s the whole process group of the command is killed (D9).
 */
export function createExecSink({ command, spawn, log, env, os }: ExecSinkOptions): Sink<unknown> {
  const serial = createSerial();
  const trouble = createTroubleLog(log);
  const scope: Scope = { is: 'machine', key: `exec:${command}` };

  async function takeAll(events: readonly Event[], signal: AbortSignal): Promise<Ack> {
    let count = 0;
    for (const event of events) {
      if (signal.aborted)
        return { is: 'stopped', count, fault: new Fault('exec-failed', 'stopped before it ran', scope) };
      const ended = await spawn.run(toShellCommand(command, toExecEnv(event, env), os), signal);
      const fault = toExecFault(ended, command, event, scope);
      if (fault !== null) {
        // The log line names the event and the last line of stderr. The cause stays the same while the command ends the
        // same way.
        if (!signal.aborted) trouble.raise(fault.explain(), ended.is === 'exited' ? `exit ${ended.code}` : ended.is);
        return { is: 'stopped', count, fault };
      }
      count += 1;
    }
    if (count > 0) trouble.clear(`--exec ${command}: succeeds again`);
    return { is: 'all' };
  }

  return {
    savesState: false,
    open: async () => EMPTY_TAIL,
    take: (events, _saved, signal) => serial(() => takeAll(events, signal)),
    async [Symbol.asyncDispose]() {},
  };
}

/**
 * Runs the command unchanged in the shell of the platform. On Windows cmd.exe gets a raw command line, so that quotes
 * in the command stay quotes, and `/v:on`: `!KIJITOMON_FROM!` is replaced after cmd.exe has parsed the line, so no
 * value ever becomes a part of the command.
 */
export function toShellCommand(command: string, env: Record<string, string>, platform: NodeJS.Platform): ChildCommand {
  const shell = platform === 'win32' ? runByCmd(command, env, '/v:on') : { file: '/bin/sh', args: ['-c', command] };
  return { ...shell, env, timeoutMs: TIMEOUT_MS };
}

/**
 * Returns why a command cannot be run safely and what to write instead; null when it can. cmd.exe replaces `%NAME%`
 * before it parses the line, so a sender named `x & del y` would become a command.
 */
export function refuseShellCommand(command: string, platform: NodeJS.Platform): string | null {
  const match = platform === 'win32' ? /%(KIJITOMON_\w+)/i.exec(command) : null;
  if (match === null) return null;
  return `--exec ${command}: cmd.exe would run what the sender wrote into %${match[1]}%; write !${match[1]}! instead, which is replaced after the line is parsed`;
}

function toExecFault(ended: ProcessEnd, command: string, event: Event, scope: Scope): Fault | null {
  const subject = `--exec ${command}`;
  const about = `for ${event.event_id}`;
  switch (ended.is) {
    case 'exited':
      if (ended.code === 0) return null;
      return new Fault('exec-failed', `${subject}: exit ${ended.code} ${about}${formatLastLine(ended.stderr)}`, scope);
    case 'killed':
      return new Fault(
        'exec-failed',
        `${subject}: killed by ${ended.signal} ${about}${formatLastLine(ended.stderr)}`,
        scope,
      );
    case 'timeout':
      return new Fault('exec-timeout', `${subject}: timed out after ${TIMEOUT_MS / 1000} s ${about}`, scope);
    case 'not-started':
      return new Fault('exec-failed', `${subject}: not started ${about}: ${ended.why}`, scope);
  }
}

/** Returns the last line the command wrote to stderr, where programs usually report the error. */
function formatLastLine(stderr: string): string {
  const line = (stderr.trim().split('\n').at(-1) ?? '').replace(/\p{Cc}/gu, ' ');
  return line === '' ? '' : ` (${line.slice(0, 200)})`;
}
