import { parseArgs } from 'node:util';
import { toUsageFault } from '../../core/command/index.ts';
import {
  BUILT_INS,
  CHECKS,
  DECISION,
  findHook,
  type Gate,
  HOOKS,
  type Hook,
  MODES,
} from '../../core/inbox/gates/index.ts';

const OPTIONS = {
  persona: { type: 'string' },
  session: { type: 'string' },
  hook: { type: 'string' },
  mode: { type: 'string' },
  description: { type: 'string' },
  hint: { type: 'string' },
  ttl: { type: 'string' },
  check: { type: 'string' },
  tool: { type: 'string' },
  command: { type: 'string' },
  force: { type: 'boolean' },
  soft: { type: 'boolean' },
  'stop-hook-active': { type: 'boolean' },
  'api-error': { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

type GateOption = keyof typeof OPTIONS;

const EVERY: readonly GateOption[] = ['persona', 'session'];

const TAKES = {
  register: ['hook', 'mode', 'description', 'hint', 'ttl', 'check', 'tool', 'command'],
  remove: [],
  mark: ['force'],
  clear: ['hook'],
  list: ['hook', 'json'],
  status: ['hook', 'json'],
  check: ['hook', 'tool', 'command', 'soft', 'stop-hook-active', 'api-error', 'json'],
} as const satisfies Record<string, readonly GateOption[]>;

export type GateVerb = keyof typeof TAKES;

/** Earlier names of verbs. */
const ALIASES: Readonly<Record<string, GateVerb>> = { 'session-check': 'check', 'session-list': 'list' };

type GateFlags = { readonly [K in GateOption]?: (typeof OPTIONS)[K]['type'] extends 'boolean' ? boolean : string };

export interface GateArgs {
  readonly verb: GateVerb;
  readonly id: string | null;
  readonly hook: Hook | null;
  readonly flags: GateFlags;
}

/** @throws Fault `usage` */
export function parseGateArgs(args: readonly string[]): GateArgs {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const [word = '', id, ...rest] = positionals;
    const verb = Object.hasOwn(ALIASES, word) ? ALIASES[word] : word;
    if (!isVerb(verb)) throw new Error('say register, remove, mark, clear, list, status or check');
    const takes: readonly string[] = [...TAKES[verb], ...EVERY];
    const foreign = Object.keys(values).find((flag) => !takes.includes(flag));
    if (foreign !== undefined) throw new Error(`gate ${word} takes no --${foreign}`);
    const needsId = verb === 'register' || verb === 'remove' || verb === 'mark';
    const takesId = needsId || verb === 'clear';
    const excess = takesId ? rest : positionals.slice(1);
    if (excess.length > 0) throw new Error(`gate ${word}: ${excess.join(' ')} is too much`);
    if (id === undefined && needsId) throw new Error(`gate ${word}: which gate?`);
    for (const flag of EVERY) if (values[flag] === '') throw new Error(`--${flag} is empty`);
    if (verb === 'check' && values.hook === undefined) throw new Error(`gate ${word}: say --hook ${HOOKS.join('|')}`);
    return { verb, id: id ?? null, hook: values.hook === undefined ? null : parseHook(values.hook), flags: values };
  } catch (error) {
    throw toUsageFault(error);
  }
}

/** Builds the gate that `register` describes. @throws Fault `usage` */
export function toGate({ id, hook, flags }: GateArgs): Gate {
  try {
    // For the gate `decision`, flags that are left out default to those of the built-in gate.
    const own = id === DECISION ? BUILT_INS.find((gate) => gate.id === id) : undefined;
    const { mode, description, hint = own?.hint, ttl, check = own?.check ?? undefined, tool, command } = flags;
    if (hook === null) throw new Error(`gate register: say --hook ${HOOKS.join('|')}`);
    if (description === undefined) throw new Error('gate register: say with --description what is wanted');
    const knownMode = MODES.find((candidate) => candidate === mode);
    if (knownMode === undefined) throw new Error(`--mode ${mode ?? ''}: say strict or soft`);
    const knownCheck = check === undefined ? null : CHECKS.find((candidate) => candidate === check);
    if (knownCheck === undefined) throw new Error(`--check ${check}: say ${CHECKS.join(', ')}`);
    const ttlSeconds = ttl === undefined ? (own?.ttlSeconds ?? null) : parseSeconds(ttl);
    const matcher =
      tool === undefined && command === undefined ? null : { tool: tool ?? null, command: command ?? null };
    const gate = { id: id ?? '', hook, mode: knownMode, description, hint: hint || null, check: knownCheck };
    return { ...gate, matcher, ttlSeconds };
  } catch (error) {
    throw toUsageFault(error);
  }
}

function isVerb(word: string | undefined): word is GateVerb {
  return word !== undefined && Object.hasOwn(TAKES, word);
}

function parseHook(text: string): Hook {
  const hook = findHook(text);
  if (hook === null) throw new Error(`--hook ${text}: say ${HOOKS.join(', ')}`);
  return hook;
}

const UNITS: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 };

function parseSeconds(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,9})([smhd]?)$/.exec(text) ?? [];
  const seconds = count === '' ? 0 : Number(count) * (UNITS[unit] ?? 0);
  if (seconds < 1) throw new Error(`--ttl ${text}: say how many seconds, or 30m, 1h, 2d`);
  return seconds;
}
