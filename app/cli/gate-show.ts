import type { Io } from '../../core/command/index.ts';
import { displayJson, displayName, formatUtcTime } from '../../core/format/index.ts';
import {
  type GateState,
  type GateStatus,
  type GateTiming,
  type GateVerdict,
  toGateTiming,
} from '../../core/inbox/gates/index.ts';
import { formatIso } from '../../core/model/index.ts';

/** Prints the answer of `gate check`; its JSON has these keys. */
export function showVerdict(
  io: Io,
  { decision, reason, results, warnings, letGo }: GateVerdict,
  asJson: boolean,
): void {
  if (asJson) {
    printJson(io, { decision, reason, results, warnings, let_go: letGo });
    return;
  }
  for (const warning of warnings) io.out(`warning: ${displayName(warning)}\n`);
  io.out(`${decision}${reason === '' ? '' : `: ${displayName(reason)}`}\n`);
}

/** Prints the definitions of gates. */
export function showGates(io: Io, gateStates: readonly GateState[], asJson: boolean): void {
  if (asJson) {
    printJson(io, gateStates.map(toGateWire));
    return;
  }
  for (const gateState of gateStates) {
    const { gate, isBuiltIn } = gateState;
    const when = WORDS[toGateTiming(gateState)];
    const ttl = gate.ttlSeconds === null ? '' : `, ${gate.ttlSeconds} s`;
    const { matcher } = gate;
    const tool =
      matcher === null
        ? ''
        : `, for ${displayName(matcher.tool ?? 'any tool')}${matcher.command === null ? '' : displayName(` with ${JSON.stringify(matcher.command)}`)}`;
    const check = gate.check === null ? '' : `, check ${gate.check}`;
    io.out(
      `${formatHead(gate)}  ${formatGateText(gate)} [${isBuiltIn ? 'built in' : 'registered'}${when}${tool}${check}${ttl}]\n`,
    );
  }
}

const WORDS = {
  always: '',
  'open-decision': ', while a decision of the persona is open; at every stop once it is registered',
  'gate-check': ', for gate check, not for hooks',
} as const satisfies Record<GateTiming, string>;

/** Prints whether gates are satisfied. */
export function showGateStatuses(io: Io, gateStatuses: readonly GateStatus[], asJson: boolean): void {
  if (asJson) {
    const wire = gateStatuses.map((gateStatus) => ({
      ...toGateWire(gateStatus),
      counts: gateStatus.counts,
      satisfied: gateStatus.isSatisfied,
      ...toMarkWire(gateStatus),
    }));
    printJson(io, wire);
    return;
  }
  for (const gateStatus of gateStatuses) {
    const { gate, mark, isSatisfied, counts } = gateStatus;
    if (!counts) {
      io.out(`inactive   ${formatHead(gate)}  no decision of the persona is open\n`);
      continue;
    }
    const by = mark === null ? 'by its check' : `by ${mark.by}, ${formatUtcTime(formatIso(mark.at))}`;
    io.out(
      `${isSatisfied ? 'satisfied' : 'open     '}  ${formatHead(gate)}  ${isSatisfied ? by : formatGateText(gate)}\n`,
    );
  }
}

function formatHead({ id, hook, mode }: GateState['gate']): string {
  return `${(hook ?? '-').padEnd(16)}  ${mode.padEnd(6)}  ${id}`;
}

function formatGateText({ description, hint }: GateState['gate']): string {
  return displayName(`${description}${hint === null ? '' : ` (${hint})`}`);
}

function toGateWire(gateState: GateState) {
  const { gate, isBuiltIn } = gateState;
  const { id, hook, mode, description, hint, check, matcher, ttlSeconds } = gate;
  return {
    gate_id: id,
    hook,
    mode,
    description,
    hint,
    check,
    tool: matcher?.tool ?? null,
    command: matcher?.command ?? null,
    ttl: ttlSeconds,
    built_in: isBuiltIn,
    when: toGateTiming(gateState),
  };
}

function toMarkWire({ mark }: GateState) {
  if (mark === null) return { satisfied_by: null, at: null, session: null };
  return { satisfied_by: mark.by, at: formatIso(mark.at), session: mark.session };
}

function printJson(io: Io, value: unknown): void {
  io.out(`${displayJson(JSON.stringify(value))}\n`);
}
