import type { Io, TextCommand } from '../../core/command/index.ts';
import { toUsageFault } from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';
import {
  BUILT_INS,
  findTerminal,
  type Gate,
  type GateState,
  type GateVerdict,
  needsForce,
} from '../../core/inbox/gates/index.ts';
import type { GateCaller } from './caller-identity.ts';
import { type GateArgs, parseGateArgs, toGate } from './gate-args.ts';
import { showGateStatuses, showGates, showVerdict } from './gate-show.ts';
import { type GateAccess, runWithGates } from './open-gates.ts';
import { getSurroundings } from './session-surroundings.node.ts';

export const command: TextCommand = {
  usage: 'gate register|remove|mark|clear|list|status|check|session-check|session-list [ID] [flags]',
  about: [
    'Conditions that an agent meets before its session stops, uses a tool or compacts. A strict gate blocks, a soft one warns.',
    '',
    'check           exit 0: allowed; 1: blocked, with the reason. Without a persona and a session it allows',
    '  --hook Stop|PreToolUse|UserPromptSubmit|PreCompact',
    '  --soft               every gate counts as soft',
    '  --stop-hook-active   as the harness says: it does not block again where nothing changed',
    '  --tool NAME, --command TEXT   at PreToolUse: the call that is meant (default: any)',
    '  --api-error          the harness cannot go on: it does not block',
    'register ID     the persona has this gate from now on; a built-in gate of that name is replaced',
    '  --hook Stop|PreToolUse|UserPromptSubmit|PreCompact',
    '  --mode strict|soft',
    '  --description TEXT   what is wanted',
    '  --hint TEXT          what to do about it',
    '  --ttl SECONDS        how long a mark holds, also as 30m, 1h, 2d (default: until it is cleared)',
    '  --tool NAMES         at PreToolUse: for these tools only, as Bash, "Edit|Write" or "mcp__*"',
    '  --command TEXT       at PreToolUse: only where the command holds this, as "git push" or "rm * /"',
    '  --check NAME         commit-push, bead-update or mol-gate-pending: satisfied when that is',
    'remove ID       the persona has this gate no longer; a built-in one is again as everybody has it',
    'mark ID         it is satisfied; --force as the operator, which the strict decision gate asks for',
    'clear [ID]      it is not satisfied any more; without ID all gates, or those of --hook',
    'list, status    the gates; how they stand. --hook for those of one hook, --json for a script',
    '',
    '  --persona PERSONA    whose gates (default: HIVEBAR_PERSONA, else whose session works in this folder)',
    '  --session ID         for which session (default: HIVEBAR_SESSION, else the one in this folder)',
    '',
    'session-check and session-list are older names of check and list.',
  ],
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
    { run: 'hivebar gate mark tests', does: 'they ran' },
    { run: 'hivebar gate mark decision --persona ada --force', does: 'the operator lets ada stop once' },
  ],
  async run(args, io) {
    const options = parseGateArgs(args);
    const { verb } = options;
    if (verb === 'check') return await check(options, io);
    return await runWithGates(io, async (access) => {
      const { persona: flag, session } = options.flags;
      const caller = access.findCaller({ persona: flag, session, cwd: getSurroundings().cwd });
      switch (verb) {
        case 'register':
          return register(options, access, caller, io);
        case 'remove':
          return remove(options, access, caller, io);
        case 'mark':
          return mark(options, access, caller, io);
        case 'clear':
          return clear(options, access, caller, io);
        case 'list':
          return list(options, access, caller, io);
        case 'status':
          return await showGateStatus(options, access, caller, io);
      }
    });
  },
};

const ALLOW: GateVerdict = { decision: 'allow', reason: '', results: [], warnings: [], letGo: null, undecided: null };
const EXIT_BLOCK = 1;

/** Checks the gates. When the check itself fails, the answer is `allow`, with a message on stderr. */
async function check(options: GateArgs, io: Io): Promise<number> {
  let verdict = ALLOW;
  try {
    verdict = await runWithGates(io, (access) => checkGates(options, access, io));
  } catch (error) {
    io.err(`hivebar gate: not checked: ${displayName(error instanceof Error ? error.message : String(error))}\n`);
  }
  showVerdict(io, verdict, options.flags.json === true);
  return verdict.decision === 'block' ? EXIT_BLOCK : 0;
}

async function checkGates({ hook, flags }: GateArgs, { gates, findCaller }: GateAccess, io: Io): Promise<GateVerdict> {
  const { cwd } = getSurroundings();
  const { persona, session } = findCaller({ persona: flags.persona, session: flags.session, cwd });
  if (hook === null || persona === null || session === null) {
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
    stopHookActive: flags['stop-hook-active'] === true,
    apiError: flags['api-error'] === true,
    soft: flags.soft === true,
    also: '',
    call: flags.tool === undefined ? null : { name: flags.tool, command: flags.command ?? null },
    by: 'command',
  });
}

function register(options: GateArgs, { gates }: GateAccess, caller: GateCaller, io: Io): number {
  const gate = toGate(options);
  const persona = requirePersona(caller, 'register');
  gates.register(persona, gate);
  io.out(`${displayName(persona)}: ${gate.id} is a ${gate.mode} gate of ${gate.hook}\n`);
  return 0;
}

function mark({ id, flags }: GateArgs, { gates }: GateAccess, caller: GateCaller, io: Io): number {
  const persona = requirePersona(caller, 'mark');
  const gateState = gates.find(persona, id ?? '');
  if (gateState === null) return reportMissingGate(persona, id, io);
  const { gate } = gateState;
  if (needsForce(gate) && flags.force !== true) {
    io.err(
      `hivebar gate: ${gate.id} is satisfied by an answered decision: hivebar decision create; the operator has --force\n`,
    );
    return 1;
  }
  const by = flags.force === true ? 'operator' : 'cli';
  gates.mark(persona, gate.id, { by, session: caller.session, terminal: findTerminal(io.env), tells: true });
  const ttl = gate.ttlSeconds === null ? '' : `, for ${gate.ttlSeconds} s`;
  io.out(`${displayName(persona)}: ${gate.id} is satisfied${ttl}\n`);
  return 0;
}

function remove({ id }: GateArgs, { gates }: GateAccess, caller: GateCaller, io: Io): number {
  const persona = requirePersona(caller, 'remove');
  if (gates.remove(persona, id ?? '')) {
    const isBuiltIn = BUILT_INS.some((gate) => gate.id === id);
    io.out(`${displayName(persona)}: ${id} is ${isBuiltIn ? 'built in again' : 'removed'}\n`);
    return 0;
  }
  if (!BUILT_INS.some((gate) => gate.id === id)) return reportMissingGate(persona, id, io);
  io.err(`hivebar gate: ${id} is built in, and was not registered: to be without it, register it with --mode soft\n`);
  return 1;
}

function clear({ id, hook }: GateArgs, { gates }: GateAccess, caller: GateCaller, io: Io): number {
  const persona = requirePersona(caller, 'clear');
  if (id !== null && gates.find(persona, id) === null) return reportMissingGate(persona, id, io);
  const isMeant = (gate: Gate): boolean => (id === null || gate.id === id) && (hook === null || gate.hook === hook);
  const cleared = gates.clear(persona, isMeant);
  io.out(`${displayName(persona)}: ${cleared.length === 0 ? 'nothing was marked' : `${cleared.join(', ')} cleared`}\n`);
  return 0;
}

function list({ hook, flags }: GateArgs, { gates }: GateAccess, { persona }: GateCaller, io: Io): number {
  const listBuiltIn = (): readonly GateState[] => BUILT_INS.map((gate) => ({ gate, mark: null, isBuiltIn: true }));
  const gateStates = persona === null ? listBuiltIn() : reportOddGates(gates.list(persona), io);
  showGates(io, filterByHook(gateStates, hook), flags.json === true);
  return 0;
}

async function showGateStatus(
  { hook, flags }: GateArgs,
  { gates }: GateAccess,
  caller: GateCaller,
  io: Io,
): Promise<number> {
  const persona = requirePersona(caller, 'status');
  reportOddGates(gates.list(persona), io);
  const asker = { session: caller.session ?? '', terminal: findTerminal(io.env) };
  const gateStatuses = await gates.status({ persona, ...asker, cwd: getSurroundings().cwd, env: io.env });
  showGateStatuses(io, filterByHook(gateStatuses, hook), flags.json === true);
  return 0;
}

function filterByHook<T extends GateState>(gateStates: readonly T[], hook: GateArgs['hook']): readonly T[] {
  return hook === null ? gateStates : gateStates.filter(({ gate }) => gate.hook === hook);
}

function reportOddGates(
  { gateStates: standings, odd }: ReturnType<GateAccess['gates']['list']>,
  io: Io,
): readonly GateState[] {
  for (const { path, why } of odd) io.err(`hivebar gate: ${displayName(`${path} is not a gate: ${why}`)}\n`);
  return standings;
}

function requirePersona({ persona }: GateCaller, verb: string): string {
  if (persona === null) throw toUsageFault(new Error(`gate ${verb}: whose gate? Give --persona PERSONA`));
  return persona;
}

function reportMissingGate(persona: string, id: string | null, io: Io): number {
  io.err(`hivebar gate: ${displayName(persona)} has no gate ${displayName(id ?? '')}: see hivebar gate list\n`);
  return 1;
}
