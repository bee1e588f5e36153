import { type Stand, type Standing, type Verdict, type When, whenOf } from '../../core/inbox/gates/index.ts';
import { isoOf } from '../../core/model/index.ts';
import { printable, printableJson } from '../printable.ts';
import type { Io } from './command.ts';

/** The answer of `gate check`, in the keys of its JSON. */
export function showVerdict(io: Io, { decision, reason, results, warnings, letGo }: Verdict, asJson: boolean): void {
  if (asJson) {
    json(io, { decision, reason, results, warnings, let_go: letGo });
    return;
  }
  for (const warning of warnings) io.out(`warning: ${printable(warning)}\n`);
  io.out(`${decision}${reason === '' ? '' : `: ${printable(reason)}`}\n`);
}

/** What the gates are. */
export function showGates(io: Io, standings: readonly Standing[], asJson: boolean): void {
  if (asJson) {
    json(io, standings.map(wireOf));
    return;
  }
  for (const standing of standings) {
    const { gate, isBuiltIn } = standing;
    const when = WORDS[whenOf(standing)];
    const ttl = gate.ttlSeconds === null ? '' : `, ${gate.ttlSeconds} s`;
    const { matcher } = gate;
    const tool =
      matcher === null
        ? ''
        : `, for ${printable(matcher.tool ?? 'any tool')}${matcher.command === null ? '' : printable(` with ${JSON.stringify(matcher.command)}`)}`;
    const check = gate.check === null ? '' : `, check ${gate.check}`;
    io.out(`${headOf(gate)}  ${textOf(gate)} [${isBuiltIn ? 'built in' : 'registered'}${when}${tool}${check}${ttl}]\n`);
  }
}

const WORDS = {
  always: '',
  'open-decision': ', while a decision of the persona is open; at every stop once it is registered',
  'gate-check': ', for gate check, not for hooks',
} as const satisfies Record<When, string>;

/** How they stand. */
export function showStands(io: Io, stands: readonly Stand[], asJson: boolean): void {
  if (asJson) {
    const wire = stands.map((stand) => ({
      ...wireOf(stand),
      counts: stand.counts,
      satisfied: stand.isSatisfied,
      ...markOf(stand),
    }));
    json(io, wire);
    return;
  }
  for (const stand of stands) {
    const { gate, mark, isSatisfied, counts } = stand;
    if (!counts) {
      io.out(`no matter  ${headOf(gate)}  no decision of the persona is open\n`);
      continue;
    }
    const by = mark === null ? 'by its check' : `by ${mark.by}, ${isoOf(mark.at).slice(0, 19)}Z`;
    io.out(`${isSatisfied ? 'satisfied' : 'open     '}  ${headOf(gate)}  ${isSatisfied ? by : textOf(gate)}\n`);
  }
}

function headOf({ id, hook, mode }: Standing['gate']): string {
  return `${(hook ?? '-').padEnd(16)}  ${mode.padEnd(6)}  ${id}`;
}

function textOf({ description, hint }: Standing['gate']): string {
  return printable(`${description}${hint === null ? '' : ` (${hint})`}`);
}

function wireOf(standing: Standing) {
  const { gate, isBuiltIn } = standing;
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
    when: whenOf(standing),
  };
}

function markOf({ mark }: Standing) {
  if (mark === null) return { satisfied_by: null, at: null, session: null };
  return { satisfied_by: mark.by, at: isoOf(mark.at), session: mark.session };
}

function json(io: Io, value: unknown): void {
  io.out(`${printableJson(JSON.stringify(value))}\n`);
}
