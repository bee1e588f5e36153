import {
  BUILT_INS,
  type Gate,
  needsForce,
  type Standing,
  terminalOf,
  type Verdict,
} from '../../core/inbox/gates/index.ts';
import { printable } from '../printable.ts';
import type { Command, Io } from './command.ts';
import { type GateArgs, gateArgs, gateOf } from './gate-args.ts';
import { showGates, showStands, showVerdict } from './gate-show.ts';
import type { Who } from './gate-who.ts';
import { usage } from './outcome.ts';
import { surroundings } from './session-surroundings.node.ts';
import { type Hall, withGates } from './with-gates.ts';

export const command: Command = {
  usage: 'gate register|remove|mark|clear|list|status|check|session-check|session-list [ID] [flags]',
  about: [
    'Conditions that an agent meets before its session stops, uses a tool or compacts. A strict gate blocks, a soft one warns.',
    '',
    'check           exit 0: allowed; 1: blocked, with the reason. Without a persona and a session it allows',
    '  --hook Stop|PreToolUse|UserPromptSubmit|PreCompact',
    '  --soft               every gate counts as soft',
    '  --stop-hook-active   as the harness says: it does not block again where nothing changed',
    '  --tool NAME, --command TEXT   at PreToolUse: the call that is meant (default: any)',
    '  --api-error          the harness can not go on: it does not block',
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
    const asked = gateArgs(args);
    const { verb } = asked;
    if (verb === 'check') return await check(asked, io);
    return await withGates(io, async (hall) => {
      const { persona: flag, session } = asked.flags;
      const who = hall.who({ persona: flag, session, cwd: surroundings().cwd });
      switch (verb) {
        case 'register':
          return register(asked, hall, who, io);
        case 'remove':
          return remove(asked, hall, who, io);
        case 'mark':
          return mark(asked, hall, who, io);
        case 'clear':
          return clear(asked, hall, who, io);
        case 'list':
          return list(asked, hall, who, io);
        case 'status':
          return await status(asked, hall, who, io);
      }
    });
  },
};

const ALLOW: Verdict = { decision: 'allow', reason: '', results: [], warnings: [], letGo: null, undecided: null };
const EXIT_BLOCK = 1;

/** Whatever fails on our side, it allows, and says so. */
async function check(asked: GateArgs, io: Io): Promise<number> {
  let verdict = ALLOW;
  try {
    verdict = await withGates(io, (hall) => verdictOf(asked, hall, io));
  } catch (error) {
    io.err(`hivebar gate: not checked: ${printable(error instanceof Error ? error.message : String(error))}\n`);
  }
  showVerdict(io, verdict, asked.flags.json === true);
  return verdict.decision === 'block' ? EXIT_BLOCK : 0;
}

async function verdictOf({ hook, flags }: GateArgs, { gates, who }: Hall, io: Io): Promise<Verdict> {
  const { cwd } = surroundings();
  const { persona, session } = who({ persona: flags.persona, session: flags.session, cwd });
  if (hook === null || persona === null || session === null) {
    io.err(`hivebar gate: not checked: no ${persona === null ? 'persona' : 'session'} is known here\n`);
    return ALLOW;
  }
  return await gates.check({
    persona,
    session,
    terminal: terminalOf(io.env),
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

function register(asked: GateArgs, { gates }: Hall, who: Who, io: Io): number {
  const gate = gateOf(asked);
  const persona = known(who, 'register');
  gates.register(persona, gate);
  io.out(`${printable(persona)}: ${gate.id} is a ${gate.mode} gate of ${gate.hook}\n`);
  return 0;
}

function mark({ id, flags }: GateArgs, { gates }: Hall, who: Who, io: Io): number {
  const persona = known(who, 'mark');
  const standing = gates.one(persona, id ?? '');
  if (standing === null) return noGate(persona, id, io);
  const { gate } = standing;
  if (needsForce(gate) && flags.force !== true) {
    io.err(
      `hivebar gate: ${gate.id} is satisfied by an answered decision: hivebar decision create; the operator has --force\n`,
    );
    return 1;
  }
  const by = flags.force === true ? 'operator' : 'cli';
  gates.mark(persona, gate.id, { by, session: who.session, terminal: terminalOf(io.env), tells: true });
  const ttl = gate.ttlSeconds === null ? '' : `, for ${gate.ttlSeconds} s`;
  io.out(`${printable(persona)}: ${gate.id} is satisfied${ttl}\n`);
  return 0;
}

function remove({ id }: GateArgs, { gates }: Hall, who: Who, io: Io): number {
  const persona = known(who, 'remove');
  if (gates.remove(persona, id ?? '')) {
    const isBuiltIn = BUILT_INS.some((gate) => gate.id === id);
    io.out(`${printable(persona)}: ${id} is ${isBuiltIn ? 'built in again' : 'removed'}\n`);
    return 0;
  }
  if (!BUILT_INS.some((gate) => gate.id === id)) return noGate(persona, id, io);
  io.err(`hivebar gate: ${id} is built in, and was not registered: to be without it, register it with --mode soft\n`);
  return 1;
}

function clear({ id, hook }: GateArgs, { gates }: Hall, who: Who, io: Io): number {
  const persona = known(who, 'clear');
  if (id !== null && gates.one(persona, id) === null) return noGate(persona, id, io);
  const isMeant = (gate: Gate): boolean => (id === null || gate.id === id) && (hook === null || gate.hook === hook);
  const cleared = gates.clear(persona, isMeant);
  io.out(`${printable(persona)}: ${cleared.length === 0 ? 'nothing was marked' : `${cleared.join(', ')} cleared`}\n`);
  return 0;
}

function list({ hook, flags }: GateArgs, { gates }: Hall, { persona }: Who, io: Io): number {
  const builtIn = (): readonly Standing[] => BUILT_INS.map((gate) => ({ gate, mark: null, isBuiltIn: true }));
  const standings = persona === null ? builtIn() : withOdd(gates.list(persona), io);
  showGates(io, ofHook(standings, hook), flags.json === true);
  return 0;
}

async function status({ hook, flags }: GateArgs, { gates }: Hall, who: Who, io: Io): Promise<number> {
  const persona = known(who, 'status');
  withOdd(gates.list(persona), io);
  const asker = { session: who.session ?? '', terminal: terminalOf(io.env) };
  const stands = await gates.status({ persona, ...asker, cwd: surroundings().cwd, env: io.env });
  showStands(io, ofHook(stands, hook), flags.json === true);
  return 0;
}

function ofHook<T extends Standing>(standings: readonly T[], hook: GateArgs['hook']): readonly T[] {
  return hook === null ? standings : standings.filter(({ gate }) => gate.hook === hook);
}

function withOdd({ standings, odd }: ReturnType<Hall['gates']['list']>, io: Io): readonly Standing[] {
  for (const { path, why } of odd) io.err(`hivebar gate: ${printable(`${path} is not a gate: ${why}`)}\n`);
  return standings;
}

function known({ persona }: Who, verb: string): string {
  if (persona === null) throw usage(new Error(`gate ${verb}: whose gate? Give --persona PERSONA`));
  return persona;
}

function noGate(persona: string, id: string | null, io: Io): number {
  io.err(`hivebar gate: ${printable(persona)} has no gate ${printable(id ?? '')}: see hivebar gate list\n`);
  return 1;
}
