import { type Io, joinWithOr } from '../../../core/command/index.ts';
import {
  findHarness,
  findHarnessVersion,
  HARNESS_NAMES,
  type Harness,
  type HookTurn,
  parseHookEvent,
} from '../../../core/hooks/index.ts';
import type { Clock, Log } from '../../../core/ports/index.ts';
import type { Database } from '../../../core/state/index.ts';
import { locateInbox } from '../../hook/index.ts';
import type { Session, SessionStore } from '../../open/index.ts';
import { getProcessPersona } from '../caller-persona.ts';
import { HOOK_FLAGS } from '../hook-schema.ts';

export interface HookArgs {
  readonly harness: Harness;
  /** As given; stdin may name another event. Null: only stdin names it. */
  readonly event: string | null;
  readonly persona: string | null;
  /** The text that Codex's `notify` appended, which is the only input then. Null: this is an event with its input on stdin. */
  readonly notification: string | null;
  readonly delivery: 'inject' | 'doorbell';
  readonly onStop: 'continue' | 'leave';
}

/** The value of `--event` when a word after all flags says what happened. */
const NOTIFY = 'notify';
/** The value of `--event` when the waiter of a session of Claude Code or OpenCode asks what to do. Nothing is on stdin then. */
export const WAIT = 'Wait';

type HookFlag = `--${keyof typeof HOOK_FLAGS}`;

const FLAGS = Object.keys(HOOK_FLAGS).map((name) => `--${name}` as HookFlag);

/** @throws Error which names the flag and the value */
export function parseHookArgs(args: readonly string[], env: Io['env']): HookArgs {
  const [values, notification] = splitNotification(args);
  const name = values['--harness'];
  if (name === undefined) throw new Error(`--harness is missing: use ${joinWithOr(HARNESS_NAMES)}`);
  const harness = findHarness(name, values['--harness-version'] ?? findHarnessVersion(env));
  if (harness === null) throw new Error(`--harness ${name}: must be ${joinWithOr(HARNESS_NAMES)}`);
  const event = values['--event'];
  if (notification !== null && name !== 'codex') throw new Error(`--event ${NOTIFY} is used only with --harness codex`);
  if (notification === null && event !== undefined && event !== WAIT && parseHookEvent(event) === null)
    throw new Error(`--event ${event}: unknown event`);
  const delivery = values['--deliver'] ?? 'inject';
  if (delivery !== 'inject' && delivery !== 'doorbell')
    throw new Error(`--deliver ${delivery}: must be inject or doorbell`);
  const onStop = values['--on-stop'] ?? 'continue';
  if (onStop !== 'continue' && onStop !== 'leave') throw new Error(`--on-stop ${onStop}: must be continue or leave`);
  return { harness, event: event ?? null, persona: values['--persona'] || null, notification, delivery, onStop };
}

function splitNotification(args: readonly string[]): readonly [Partial<Record<HookFlag, string>>, string | null] {
  const last = args.at(-1);
  const before = args.slice(0, -1);
  const isNotify = (words: readonly string[]): boolean =>
    words.some((word, i) => word === `--event=${NOTIFY}` || (word === '--event' && words[i + 1] === NOTIFY));
  if (last !== undefined && isNotify(before)) return [parseValues(before), last];
  if (isNotify(args)) throw new Error(`--event ${NOTIFY}: the JSON of the event is missing`);
  return [parseValues(args), null];
}

/**
 * Parses `--flag value` and `--flag=value`. `parseArgs` of node:util does the same, but takes as long to load as all of this
 * code.
 */
function parseValues(args: readonly string[]): Partial<Record<HookFlag, string>> {
  const values: Partial<Record<HookFlag, string>> = {};
  for (let i = 0; i < args.length; i += 1) {
    const [word = '', ...rest] = (args[i] ?? '').split('=');
    const flag = FLAGS.find((name) => name === word);
    if (flag === undefined) throw new Error(`unknown flag ${args[i]}: use ${FLAGS.join(', ')}`);
    if (rest.length > 0) values[flag] = rest.join('=');
    else {
      i += 1;
      const value = args[i];
      if (value === undefined) throw new Error(`${flag}: its value is missing`);
      values[flag] = value;
    }
  }
  return values;
}

/** How far a call has come. Once the gates have decided, a later error holds no agent. */
export interface Progress {
  isDecided: boolean;
}

/** One call of a hook, with everything that it works on. */
export interface HookCall {
  readonly options: HookArgs;
  readonly io: Io;
  readonly log: Log;
  readonly turn: HookTurn;
  readonly persona: string;
  readonly db: Database;
  readonly state: string;
  readonly run: string;
  readonly config: string;
  readonly budget: TimeBudget;
  readonly progress: Progress;
}

/** Limits the total time of waiting from now on. Each wait may use what is left. */
export interface TimeBudget {
  /** Whole milliseconds that are left; 0: nothing may wait any more. */
  left(): number;
  /** At most `ms` milliseconds of what is left, starting now. */
  part(ms: number): TimeBudget;
}

export function createBudget(clock: Pick<Clock, 'monotonic'>, ms: number): TimeBudget {
  const until = clock.monotonic() + ms;
  const left = (): number => Math.max(0, Math.floor(until - clock.monotonic()));
  return { left, part: (most) => createBudget(clock, Math.max(0, Math.min(most, left()))) };
}

/** Returns the persona that stdin, the environment or the command line names. Null: only announced sessions can tell. */
export function findStatedPersona(
  { persona }: Pick<HookTurn, 'persona'>,
  env: Io['env'],
  flag: string | null,
): string | null {
  return persona ?? getProcessPersona(env) ?? flag;
}

/**
 * Formats why no persona was chosen, and what helps. For a Codex thread the session must be set, because its hooks have no
 * environment of their own.
 */
export function formatAmbiguous({ session, cwd }: HookTurn, personas: readonly string[]): string {
  const next = session === null ? '' : `: hivebar session set PERSONA --id ${session}`;
  return `several personas work in ${cwd}: ${personas.join(', ')}; choose the persona of this session${next}`;
}

type PersonaMatch =
  | { readonly is: 'known'; readonly persona: string }
  | { readonly is: 'nobody' }
  /** Several personas are announced from the folder. One must not get the mail of another. */
  | { readonly is: 'ambiguous'; readonly personas: readonly string[] };

/**
 * Finds the persona among the announced sessions: the session with this id, else the only persona that works in this folder.
 * @param flag the persona of the command line, where a thread comes before it (Codex); null: none, or it was tried before
 */
export function findAnnouncedPersona(
  { session, cwd }: Pick<HookTurn, 'session' | 'cwd'>,
  sessions: SessionStore,
  config: string,
  flag: string | null,
): PersonaMatch {
  const announced = sessions.listAll().toSorted((a, b) => b.announcedAt - a.announcedAt);
  const byId = session === null ? undefined : announced.find(({ id }) => id === session);
  if (byId !== undefined) return { is: 'known', persona: byId.persona };
  if (flag !== null) return { is: 'known', persona: flag };
  const inFolder = announced.filter(
    (candidate: Session) => candidate.endedAt === null && cwd !== null && candidate.cwd === cwd,
  );
  // A persona of the local hive may be stored by name or by id. Both are one persona, and the newest form is used.
  const byInbox = new Map(
    inFolder.toReversed().map(({ persona }) => [JSON.stringify(locateInbox(persona, config)), persona]),
  );
  const personas = [...byInbox.values()];
  const [persona] = personas;
  if (persona === undefined) return { is: 'nobody' };
  return personas.length > 1 ? { is: 'ambiguous', personas } : { is: 'known', persona };
}
