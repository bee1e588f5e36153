import type { Clock, Ended } from '../../core/ports/index.ts';
import { execEnv } from '../../core/sinks/index.ts';
import type { Hand, Handed } from './hand.ts';
import { linesOf } from './hand-to-reader.ts';
import type { Item } from './item.ts';
import { runProgram } from './run-program.node.ts';
import { prefaceOf, wakeText } from './wake-text.ts';
import { classOf } from './wakes.ts';

export interface ProgramNeeds {
  readonly clock: Clock;
  readonly argv: readonly string[];
  readonly persona: string;
  readonly consumer: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly killAfterMs: number;
  readonly json: boolean;
}

/**
 * A program for each event, its exit 0 the acknowledgement (Kijito contract b, and D9, D12): the environment of the headless
 * `--exec` and ours, the line on stdin.
 */
export function handToExec({ clock, argv, consumer, env, killAfterMs }: ProgramNeeds): Hand {
  return {
    atOnce: 1,
    pauseMs: 0,
    async take(items, stop) {
      for (const [count, { event, raw }] of items.entries()) {
        const own = {
          HIVEBAR_CONSUMER: consumer,
          HIVEBAR_WAKE_CLASS: classOf(event),
          HIVEBAR_TEXT: cut(wakeText(event, clock.now())),
        };
        const program = { argv, env: { ...execEnv(event, tokenless(env)), ...own }, input: `${raw}\n`, killAfterMs };
        const handed = handedBy(await runProgram(program, stop), argv, event.event_id, killAfterMs, stop);
        if (handed.is !== 'all') return handed.is === 'failed' ? { ...handed, count } : handed;
      }
      return { is: 'all' };
    },
  };
}

/** A program for each batch, which is the prompt on its stdin: a turn of an agent that is taken up again. */
export function handToTurn(needs: ProgramNeeds & { readonly atOnce: number }): Hand {
  const { clock, argv, persona, consumer, env, killAfterMs, json, atOnce } = needs;
  return {
    atOnce,
    pauseMs: 0,
    async take(items, stop) {
      const lines = linesOf(items, json, clock);
      const program = {
        argv,
        env: { ...plainEnv(env), HIVEBAR_PERSONA: persona, HIVEBAR_CONSUMER: consumer },
        input: json ? lines : `${prefaceOf(persona)}\n\n${lines}`,
        killAfterMs,
      };
      return handedBy(await runProgram(program, stop), argv, idsOf(items), killAfterMs, stop);
    },
  };
}

function handedBy(
  ended: Ended,
  argv: readonly string[],
  about: string,
  killAfterMs: number,
  stop: AbortSignal,
): Handed {
  if (ended.is === 'exited' && ended.code === 0) return { is: 'all' };
  if (stop.aborted) return { is: 'stopped' };
  return { is: 'failed', count: 0, why: `${argv[0] ?? ''}: ${wordsOf(ended, killAfterMs)} for ${about}` };
}

function wordsOf(ended: Ended, killAfterMs: number): string {
  switch (ended.is) {
    case 'exited':
      return `exit ${ended.code}${said(ended.stderr)}`;
    case 'killed':
      return `killed by ${ended.signal}${said(ended.stderr)}`;
    case 'timeout':
      return `timed out after ${killAfterMs / 1000} s`;
    case 'not-started':
      return `not started (${ended.why})`;
  }
}

/** The last line it wrote to stderr. */
function said(stderr: string): string {
  const line = stderr.trim().split('\n').at(-1) ?? '';
  return line === '' ? '' : ` (${line.slice(0, 200)})`;
}

function idsOf(items: readonly Item[]): string {
  const first = items[0]?.event.event_id ?? '';
  return items.length === 1 ? first : `${items.length} events from ${first} on`;
}

/** Secrets of a hive are for the hive alone, in whatever case the platform spells a name (D12). */
const TOKEN = /^(KIJITOMON|KIJITO|HIVEBAR)_(.*_)?TOKEN$/i;

function tokenless(env: ProgramNeeds['env']): ProgramNeeds['env'] {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !TOKEN.test(name)));
}

function plainEnv(env: ProgramNeeds['env']): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(tokenless(env))) if (value !== undefined) plain[name] = value;
  return plain;
}

/** No system starts a program with a huge variable; the whole line is on its stdin. */
const MOST_CHARS = 20_000;

function cut(text: string): string {
  return text.length <= MOST_CHARS ? text : text.slice(0, MOST_CHARS).toWellFormed();
}
