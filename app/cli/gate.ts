import {
  type CommandSchema,
  defineCommand,
  type Io,
  joinWithOr,
  type ParsedValues,
  toUsageFault,
} from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';
import {
  BUILT_INS,
  CHECKS,
  DECISION,
  findHook,
  findTerminal,
  type Gate,
  type GateState,
  type GateVerdict,
  HOOKS,
  type Hook,
  MODES,
  needsForce,
} from '../../core/inbox/gates/index.ts';
import type { GateCaller } from './caller-persona.ts';
import { showGateStatuses, showGates, showVerdict } from './gate-show.ts';
import { type GateAccess, runWithGates } from './open-gates.ts';
import { getSurroundings } from './session-surroundings.node.ts';

const hookFlag = (help: string) =>
  ({ type: 'string', value: HOOKS.join('|'), completes: HOOKS, parse: parseHook, help }) as const;
const takesGate = (verb: string) =>
  ({ id: { value: 'ID', missing: `gate ${verb}: ID is missing`, mayBeEmpty: true } }) as const;
const JSON_FLAG = { type: 'boolean', help: 'print JSON for a script' } as const;
const OF_ONE_HOOK = hookFlag('only the gates of this hook');

const SCHEMA = {
  name: 'gate',
  about: [
    'Conditions that an agent meets before its session stops, uses a tool or compacts. A strict gate blocks, a soft one warns.',
  ],
  flags: {
    persona: {
      type: 'string',
      value: 'PERSONA',
      completes: 'persona',
      parse: parseNonEmpty,
      help: 'the persona (default: HIVEBAR_PERSONA, else the one whose session works in this folder)',
    },
    session: {
      type: 'string',
      value: 'ID',
      parse: parseNonEmpty,
      help: 'the session (default: HIVEBAR_SESSION, else the one in this folder)',
    },
  },
  verbs: {
    register: {
      help: 'add a gate to the persona; it replaces a built-in gate of that name',
      positionals: takesGate('register'),
      flags: {
        hook: hookFlag('when it is checked'),
        mode: { type: 'string', value: 'strict|soft', completes: MODES, help: 'whether it blocks or warns' },
        description: { type: 'string', help: 'what the agent has to do' },
        hint: { type: 'string', help: 'how to do it' },
        ttl: {
          type: 'string',
          value: 'SECONDS',
          help: 'how long a mark is valid; also 30m, 1h or 2d (default: until it is cleared)',
        },
        tool: {
          type: 'string',
          value: 'NAMES',
          help: 'at PreToolUse: only for these tools, for example Bash, "Edit|Write" or "mcp__*"',
        },
        command: {
          type: 'string',
          help: 'at PreToolUse: only for commands that contain this, for example "git push" or "rm * /"',
        },
        check: {
          type: 'string',
          value: 'NAME',
          completes: CHECKS,
          help: 'a built-in check that satisfies the gate: commit-push, bead-update or mol-gate-pending',
        },
      },
    },
    remove: {
      help: 'remove a gate; a built-in one gets its defaults back',
      positionals: takesGate('remove'),
    },
    mark: {
      help: 'mark it as satisfied',
      positionals: takesGate('mark'),
      flags: { force: { type: 'boolean', help: 'mark it as the operator; the strict decision gate needs this' } },
    },
    clear: {
      help: 'mark it as not satisfied; without ID all gates, or those of --hook',
      positionals: { id: { value: 'ID', optional: true } },
      flags: { hook: OF_ONE_HOOK },
    },
    list: { help: 'list the gates', aliases: ['session-list'], flags: { hook: OF_ONE_HOOK, json: JSON_FLAG } },
    status: { help: 'show which gates are satisfied', flags: { hook: OF_ONE_HOOK, json: JSON_FLAG } },
    check: {
      help: 'exit 0: allowed; 1: blocked, with the reason. Without a persona and a session it allows',
      aliases: ['session-check'],
      flags: {
        hook: hookFlag('the hook to check'),
        tool: { type: 'string', value: 'NAME', help: 'at PreToolUse: the tool to check (default: any)' },
        command: { type: 'string', help: 'at PreToolUse: the command to check (default: any)' },
        soft: { type: 'boolean', help: 'treat every gate as soft' },
        'stop-hook-active': {
          type: 'boolean',
          help: 'the harness reports a continued stop: do not block again if nothing changed',
        },
        'api-error': { type: 'boolean', help: 'the harness cannot continue: do not block' },
        json: JSON_FLAG,
      },
    },
  },
  examples: [
    { run: 'hivebar gate check --hook Stop --json', does: 'may this session stop?' },
    {
      run: 'hivebar gate register tests --hook Stop --mode strict --description "run the tests" --ttl 1h',
      does: 'a gate of your own',
    },
    {
      run: 'hivebar gate register push --hook PreToolUse --mode strict --tool Bash --command "git push" --description "ask before a push" --ttl 5m',
      does: 'a guard before a tool',
    },
    { run: 'hivebar gate mark tests', does: 'record that the tests ran' },
    { run: 'hivebar gate mark decision --persona ada --force', does: 'the operator lets ada stop once' },
  ],
} as const satisfies CommandSchema;

type GateVerb = ParsedValues<typeof SCHEMA>['verb'];
type GateValues<V extends GateVerb = GateVerb> = Extract<ParsedValues<typeof SCHEMA>, { readonly verb: V }>;

export const command = defineCommand(SCHEMA, async (values, io) => {
  if (values.verb === 'check') return await check(values, io);
  return await runWithGates(io, async (access) => {
    const { persona, session } = values;
    const caller = access.findCaller({ persona, session, cwd: getSurroundings().cwd });
    switch (values.verb) {
      case 'register':
        return register(values, access, caller, io);
      case 'remove':
        return remove(values, access, caller, io);
      case 'mark':
        return mark(values, access, caller, io);
      case 'clear':
        return clear(values, access, caller, io);
      case 'list':
        return list(values, access, caller, io);
      case 'status':
        return await showGateStatus(values, access, caller, io);
    }
  });
});

const ALLOW: GateVerdict = { decision: 'allow', reason: '', results: [], warnings: [], letGo: null, undecided: null };
const EXIT_BLOCK = 1;

/** Checks the gates. When the check itself fails, the answer is `allow`, with a message on stderr. */
async function check(values: GateValues<'check'>, io: Io): Promise<number> {
  if (values.hook === undefined)
    throw toUsageFault(new Error(`gate check: --hook is missing: use ${joinWithOr(HOOKS)}`));
  let verdict = ALLOW;
  try {
    verdict = await runWithGates(io, (access) => checkGates(values, access, io));
  } catch (error) {
    io.err(`hivebar gate: not checked: ${displayName(error instanceof Error ? error.message : String(error))}\n`);
  }
  showVerdict(io, verdict, values.json);
  return verdict.decision === 'block' ? EXIT_BLOCK : 0;
}

async function checkGates(
  values: GateValues<'check'>,
  { gates, findCaller }: GateAccess,
  io: Io,
): Promise<GateVerdict> {
  const { hook, tool, command: toolCommand = null } = values;
  const { cwd } = getSurroundings();
  const { persona, session } = findCaller({ persona: values.persona, session: values.session, cwd });
  if (hook === undefined || persona === null || session === null) {
    io.err(`hivebar gate: not checked: no ${persona === null ? 'persona' : 'session'} is known here\n`);
    return ALLOW;
  }
  return await gates.check({
    persona,
    session,
    terminal: findTerminal(io.env),
    hook,
    cwd,
    env: io.env,
    stopHookActive: values['stop-hook-active'],
    apiError: values['api-error'],
    soft: values.soft,
    also: '',
    call: tool === undefined ? null : { name: tool, command: toolCommand },
    by: 'command',
  });
}

function register(values: GateValues<'register'>, { gates }: GateAccess, caller: GateCaller, io: Io): number {
  const gate = toGate(values);
  const persona = requirePersona(caller, 'register');
  gates.register(persona, gate);
  io.out(`${displayName(persona)}: ${gate.id} is a ${gate.mode} gate of ${gate.hook}\n`);
  return 0;
}

function mark({ id, force }: GateValues<'mark'>, { gates }: GateAccess, caller: GateCaller, io: Io): number {
  const persona = requirePersona(caller, 'mark');
  const gateState = gates.find(persona, id);
  if (gateState === null) return reportMissingGate(persona, id, io);
  const { gate } = gateState;
  if (needsForce(gate) && !force) {
    io.err(
      `hivebar gate: ${gate.id}: only an answered decision satisfies this gate: run hivebar decision create; an operator can use --force\n`,
    );
    return 1;
  }
  const by = force ? 'operator' : 'cli';
  gates.mark(persona, gate.id, { by, session: caller.session, terminal: findTerminal(io.env), tells: true });
  const ttl = gate.ttlSeconds === null ? '' : `, for ${gate.ttlSeconds} s`;
  io.out(`${displayName(persona)}: ${gate.id} is satisfied${ttl}\n`);
  return 0;
}

function remove({ id }: GateValues<'remove'>, { gates }: GateAccess, caller: GateCaller, io: Io): number {
  const persona = requirePersona(caller, 'remove');
  if (gates.remove(persona, id)) {
    const isBuiltIn = BUILT_INS.some((gate) => gate.id === id);
    io.out(`${displayName(persona)}: ${id} is ${isBuiltIn ? 'back to its built-in defaults' : 'removed'}\n`);
    return 0;
  }
  if (!BUILT_INS.some((gate) => gate.id === id)) return reportMissingGate(persona, id, io);
  io.err(
    `hivebar gate: ${id} is a built-in gate and cannot be removed: register it with --mode soft to turn it into a warning\n`,
  );
  return 1;
}

function clear({ id, hook }: GateValues<'clear'>, { gates }: GateAccess, caller: GateCaller, io: Io): number {
  const persona = requirePersona(caller, 'clear');
  if (id !== undefined && gates.find(persona, id) === null) return reportMissingGate(persona, id, io);
  const isMeant = (gate: Gate): boolean =>
    (id === undefined || gate.id === id) && (hook === undefined || gate.hook === hook);
  const cleared = gates.clear(persona, isMeant);
  io.out(`${displayName(persona)}: ${cleared.length === 0 ? 'nothing was marked' : `${cleared.join(', ')} cleared`}\n`);
  return 0;
}

function list({ hook, json }: GateValues<'list'>, { gates }: GateAccess, { persona }: GateCaller, io: Io): number {
  const listBuiltIn = (): readonly GateState[] => BUILT_INS.map((gate) => ({ gate, mark: null, isBuiltIn: true }));
  const gateStates = persona === null ? listBuiltIn() : reportOddGates(gates.list(persona), io);
  showGates(io, filterByHook(gateStates, hook), json);
  return 0;
}

async function showGateStatus(
  { hook, json }: GateValues<'status'>,
  { gates }: GateAccess,
  caller: GateCaller,
  io: Io,
): Promise<number> {
  const persona = requirePersona(caller, 'status');
  reportOddGates(gates.list(persona), io);
  const asker = { session: caller.session ?? '', terminal: findTerminal(io.env) };
  const gateStatuses = await gates.status({ persona, ...asker, cwd: getSurroundings().cwd, env: io.env });
  showGateStatuses(io, filterByHook(gateStatuses, hook), json);
  return 0;
}

function filterByHook<T extends GateState>(gateStates: readonly T[], hook: Hook | undefined): readonly T[] {
  return hook === undefined ? gateStates : gateStates.filter(({ gate }) => gate.hook === hook);
}

function reportOddGates(
  { gateStates: standings, odd }: ReturnType<GateAccess['gates']['list']>,
  io: Io,
): readonly GateState[] {
  for (const { path, why } of odd) io.err(`hivebar gate: ${displayName(`${path} is not a gate: ${why}`)}\n`);
  return standings;
}

function requirePersona({ persona }: GateCaller, verb: string): string {
  if (persona === null) throw toUsageFault(new Error(`gate ${verb}: the persona is missing: use --persona PERSONA`));
  return persona;
}

function reportMissingGate(persona: string, id: string, io: Io): number {
  io.err(`hivebar gate: ${displayName(persona)} has no gate ${displayName(id)}: see hivebar gate list\n`);
  return 1;
}

/** Builds the gate that `register` describes. @throws Fault `usage` */
function toGate({ id, hook, ...flags }: GateValues<'register'>): Gate {
  try {
    // For the gate `decision`, flags that are left out default to those of the built-in gate.
    const own = id === DECISION ? BUILT_INS.find((gate) => gate.id === id) : undefined;
    const { mode, description, hint = own?.hint, ttl, check = own?.check ?? undefined, tool, command } = flags;
    if (hook === undefined) throw new Error(`gate register: --hook is missing: use ${joinWithOr(HOOKS)}`);
    if (description === undefined) throw new Error('gate register: --description is missing');
    const knownMode = MODES.find((candidate) => candidate === mode);
    if (knownMode === undefined) throw new Error(`--mode ${mode ?? ''}: must be strict or soft`);
    const knownCheck = check === undefined ? null : CHECKS.find((candidate) => candidate === check);
    if (knownCheck === undefined) throw new Error(`--check ${check}: must be ${joinWithOr(CHECKS)}`);
    const ttlSeconds = ttl === undefined ? (own?.ttlSeconds ?? null) : parseSeconds(ttl);
    const matcher =
      tool === undefined && command === undefined ? null : { tool: tool ?? null, command: command ?? null };
    const gate = { id, hook, mode: knownMode, description, hint: hint || null, check: knownCheck };
    return { ...gate, matcher, ttlSeconds };
  } catch (error) {
    throw toUsageFault(error);
  }
}

function parseNonEmpty(text: string, flag: string): string {
  if (text === '') throw new Error(`${flag} is empty`);
  return text;
}

function parseHook(text: string): Hook {
  const hook = findHook(text);
  if (hook === null) throw new Error(`--hook ${text}: must be ${joinWithOr(HOOKS)}`);
  return hook;
}

const UNITS: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 };

function parseSeconds(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,9})([smhd]?)$/.exec(text) ?? [];
  const seconds = count === '' ? 0 : Number(count) * (UNITS[unit] ?? 0);
  if (seconds < 1)
    throw new Error(`--ttl ${text}: must be a number of seconds or a duration, for example 30m, 1h or 2d`);
  return seconds;
}
