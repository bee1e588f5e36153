import { displayName, formatDefaultChoice, formatUtcTime } from '../../core/format/index.ts';
import { type Decision, findOptionLabel } from '../../core/inbox/decisions/index.ts';
import { formatIso, type Instant } from '../../core/model/index.ts';

/** Formats one line of a list of decisions. */
export function formatDecisionLine(decision: Decision): string {
  const { id, persona, prompt, iteration, mostIterations } = decision;
  const round = iteration === 1 ? [] : [`${iteration} of ${mostIterations}`];
  const [first = ''] = prompt.split('\n');
  const ellipsis = prompt.includes('\n') ? ' ...' : '';
  const columns = [
    String(id).padStart(6),
    formatState(decision),
    displayName(persona),
    ...round,
    `${displayName(first)}${ellipsis}`,
  ];
  return [...columns, ...formatAnswer(decision)].join('  ');
}

/** How many code points of an answer's text a list shows. */
const LISTED_TEXT = 100;

/** Formats the answer for a list; empty while the decision is open. */
function formatAnswer(decision: Decision): readonly string[] {
  const { outcome, next } = decision;
  if (outcome.is === 'open' || outcome.is === 'timed-out') return [];
  const { by, text } = outcome;
  const words = text === null ? '' : [...displayName(text.replace(/\s+/g, ' '))].slice(0, LISTED_TEXT).join('');
  const note = words === '' ? '' : `: ${words}`;
  const author = by === null ? ', chosen by itself' : ` by ${displayName(by)}`;
  if (outcome.is === 'cancelled') return [`->${author}${note}`];
  if (next !== null) return [`-> guidance${author}, asked again as ${next}${note}`];
  const { choice } = outcome;
  return [
    choice === null
      ? `->${author}${note}`
      : `-> ${choice} (${displayName(findOptionLabel(decision, choice))})${author}${note}`,
  ];
}

/** Formats all of a decision for the person who is to answer. */
export function formatDecision(decision: Decision, now: Instant): readonly string[] {
  const { id, persona, prompt, context, options, urgency, freeText, fallback, outcome } = decision;
  const { iteration, mostIterations, parent, guidance, expires } = decision;
  const round = iteration === 1 ? '' : `, ${iteration} of ${mostIterations}`;
  const width = Math.max(0, ...options.map((option) => option.id.length));
  const lines = [
    `#${id} ${formatState(decision)}, asked by ${displayName(persona)}, ${formatTime(decision.created)}, ${urgency}${round}`,
  ];
  lines.push(...indent(prompt));
  if (context !== null) lines.push('', ...indent(context));
  if (guidance !== null) lines.push('', `asked again after this guidance to #${parent ?? '?'}:`, ...indent(guidance));
  if (options.length > 0) lines.push('');
  for (const option of options) {
    const chosen = outcome.is === 'open' && option.id === fallback ? formatDefaultChoice(expires, now) : null;
    lines.push(`  ${option.id.padEnd(width)}  ${displayName(option.label)}${chosen === null ? '' : `  (${chosen})`}`);
  }
  lines.push('', ...formatOutcome(decision));
  if (outcome.is === 'open') {
    const ways = [...(options.length > 0 ? ['--select ID'] : []), ...(freeText ? ['--text TEXT'] : [])];
    const until = expires === null ? '' : `, until ${formatTime(expires)}`;
    lines.push(`answer it with: hivebar decision respond ${id} ${ways.join(' or ')}${until}`);
    if (!freeText && iteration < mostIterations)
      lines.push(`have it asked again with your guidance: hivebar decision respond ${id} --text TEXT`);
  }
  return lines.filter((line, at) => line !== '' || (lines[at + 1] ?? '') !== '');
}

/** Formats the outcome, for a caller that waits or that answered too late. */
export function formatOutcome(decision: Decision): readonly string[] {
  const { id, outcome, next } = decision;
  switch (outcome.is) {
    case 'open':
      return [];
    case 'timed-out':
      return [`decision ${id}: not answered in time`];
    case 'cancelled': {
      const why = outcome.text === null ? '' : `: ${displayName(outcome.text)}`;
      return [`decision ${id}: cancelled by ${displayName(outcome.by)}${why}`];
    }
    case 'resolved': {
      const { by, choice, text } = outcome;
      const noteLines = text === null ? [] : indent(text);
      if (next !== null)
        return [`decision ${id}: ${displayName(by ?? '')} gives guidance; it is asked again as ${next}`, ...noteLines];
      if (choice === null) return [`decision ${id}: answered by ${displayName(by ?? '')}`, ...noteLines];
      const resolution = by === null ? 'not answered in time, chosen by itself:' : `answered by ${displayName(by)}:`;
      return [
        `decision ${id}: ${resolution} ${choice} (${displayName(findOptionLabel(decision, choice))})`,
        ...noteLines,
      ];
    }
  }
}

function formatState({ outcome, next }: Decision): string {
  return outcome.is === 'resolved' && next !== null ? 'guided' : outcome.is;
}

function indent(text: string): readonly string[] {
  return text.split(/\r?\n/).map((line) => `  ${displayName(line.replaceAll('\t', '  '))}`);
}

function formatTime(at: Instant): string {
  return formatUtcTime(formatIso(at));
}
