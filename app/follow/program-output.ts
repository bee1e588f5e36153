import type { Clock, ProcessEnd } from '../../core/ports/index.ts';
import { toExecEnv } from '../../core/sinks/index.ts';
import type { FollowItem } from './follow-item.ts';
import type { FollowAck, FollowOutput } from './follow-output.ts';
import { formatLines } from './reader-output.ts';
import { runProgram } from './run-program.node.ts';
import { getWakeClass } from './wake-rules.ts';
import { formatPreface, formatWakeText } from './wake-text.ts';

export interface ProgramOutputNeeds {
  readonly clock: Clock;
  readonly argv: readonly string[];
  readonly persona: string;
  readonly consumer: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly killAfterMs: number;
  readonly json: boolean;
}

/**
 * Runs a program for each event; exit 0 is the ack (Kijito contract b, and D9, D12). The program gets the environment of the
 * headless `--exec` and our own, and the line on stdin.
 */
export function createExecOutput({ clock, argv, consumer, env, killAfterMs }: ProgramOutputNeeds): FollowOutput {
  return {
    atOnce: 1,
    pauseMs: 0,
    async take(items, stop) {
      for (const [count, { event, raw }] of items.entries()) {
        const own = {
          HIVEBAR_CONSUMER: consumer,
          HIVEBAR_WAKE_CLASS: getWakeClass(event),
          HIVEBAR_TEXT: cut(formatWakeText(event, clock.now())),
        };
        const program = {
          argv,
          env: { ...toExecEnv(event, removeTokens(env)), ...own },
          input: `${raw}\n`,
          killAfterMs,
        };
        const ack = toAck(await runProgram(program, stop), argv, event.event_id, killAfterMs, stop);
        if (ack.is !== 'all') return ack.is === 'failed' ? { ...ack, count } : ack;
      }
      return { is: 'all' };
    },
  };
}

/** Runs a program for each batch, with the prompt on its stdin: one turn of an agent that is resumed. */
export function createTurnOutput(needs: ProgramOutputNeeds & { readonly atOnce: number }): FollowOutput {
  const { clock, argv, persona, consumer, env, killAfterMs, json, atOnce } = needs;
  return {
    atOnce,
    pauseMs: 0,
    async take(items, stop) {
      const lines = formatLines(items, json, clock);
      const program = {
        argv,
        env: { ...toPlainEnv(env), HIVEBAR_PERSONA: persona, HIVEBAR_CONSUMER: consumer },
        input: json ? lines : `${formatPreface(persona)}\n\n${lines}`,
        killAfterMs,
      };
      return toAck(await runProgram(program, stop), argv, formatIds(items), killAfterMs, stop);
    },
  };
}

function toAck(
  ended: ProcessEnd,
  argv: readonly string[],
  about: string,
  killAfterMs: number,
  stop: AbortSignal,
): FollowAck {
  if (ended.is === 'exited' && ended.code === 0) return { is: 'all' };
  if (stop.aborted) return { is: 'stopped' };
  return { is: 'failed', count: 0, why: `${argv[0] ?? ''}: ${formatExit(ended, killAfterMs)} for ${about}` };
}

function formatExit(ended: ProcessEnd, killAfterMs: number): string {
  switch (ended.is) {
    case 'exited':
      return `exit ${ended.code}${formatLastLine(ended.stderr)}`;
    case 'killed':
      return `killed by ${ended.signal}${formatLastLine(ended.stderr)}`;
    case 'timeout':
      return `timed out after ${killAfterMs / 1000} s`;
    case 'not-started':
      return `not started (${ended.why})`;
  }
}

/** Formats the last line that the program wrote to stderr. */
function formatLastLine(stderr: string): string {
  const line = stderr.trim().split('\n').at(-1) ?? '';
  return line === '' ? '' : ` (${line.slice(0, 200)})`;
}

function formatIds(items: readonly FollowItem[]): string {
  const first = items[0]?.event.event_id ?? '';
  return items.length === 1 ? first : `${items.length} events from ${first} on`;
}

/** Tokens of a hive are for the hive alone. Names are matched in any case, because platforms spell them differently (D12). */
const TOKEN = /^(KIJITOMON|KIJITO|HIVEBAR)_(.*_)?TOKEN$/i;

function removeTokens(env: ProgramOutputNeeds['env']): ProgramOutputNeeds['env'] {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !TOKEN.test(name)));
}

function toPlainEnv(env: ProgramOutputNeeds['env']): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(removeTokens(env))) if (value !== undefined) plain[name] = value;
  return plain;
}

/** No system starts a program with a huge variable. The whole line is on stdin. */
const MOST_CHARS = 20_000;

function cut(text: string): string {
  return text.length <= MOST_CHARS ? text : text.slice(0, MOST_CHARS).toWellFormed();
}
