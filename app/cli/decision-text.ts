import { type Decision, labelOf } from '../../core/inbox/decisions/index.ts';
import { type Instant, isoOf } from '../../core/model/index.ts';
import { printable } from '../printable.ts';

/** One line of a list. */
export function decisionLine(decision: Decision): string {
  const { id, persona, prompt, iteration, mostIterations } = decision;
  const round = iteration === 1 ? [] : [`${iteration} of ${mostIterations}`];
  const [first = ''] = prompt.split('\n');
  const more = prompt.includes('\n') ? ' ...' : '';
  const asked = [
    String(id).padStart(6),
    stateWord(decision),
    printable(persona),
    ...round,
    `${printable(first)}${more}`,
  ];
  return [...asked, ...answerIn(decision)].join('  ');
}

/** Code points of an answer's text in a list. */
const LISTED_TEXT = 100;

/** What was answered, for a list; nothing while it is open. */
function answerIn(decision: Decision): readonly string[] {
  const { outcome, next } = decision;
  if (outcome.is === 'open' || outcome.is === 'timed-out') return [];
  const { by, text } = outcome;
  const words = text === null ? '' : [...printable(text.replace(/\s+/g, ' '))].slice(0, LISTED_TEXT).join('');
  const said = words === '' ? '' : `: ${words}`;
  const who = by === null ? ' by default' : ` by ${printable(by)}`;
  if (outcome.is === 'cancelled') return [`->${who}${said}`];
  if (next !== null) return [`-> guidance${who}, open again as ${next}${said}`];
  const { choice } = outcome;
  return [choice === null ? `->${who}${said}` : `-> ${choice} (${printable(labelOf(decision, choice))})${who}${said}`];
}

/** All of it, for a person who is to answer. */
export function decisionLines(decision: Decision): readonly string[] {
  const { id, persona, prompt, context, options, fallback, urgency, freeText, outcome } = decision;
  const { iteration, mostIterations, parent, guidance, expires } = decision;
  const round = iteration === 1 ? '' : `, ${iteration} of ${mostIterations}`;
  const width = Math.max(0, ...options.map((option) => option.id.length));
  const lines = [
    `#${id} ${stateWord(decision)}, asked by ${printable(persona)}, ${timeOf(decision.created)}, ${urgency}${round}`,
  ];
  lines.push(...indented(prompt));
  if (context !== null) lines.push('', ...indented(context));
  if (guidance !== null) lines.push('', `guidance to #${parent ?? '?'}:`, ...indented(guidance));
  if (options.length > 0) lines.push('');
  for (const option of options) {
    const holds = option.id === fallback ? '  (default)' : '';
    lines.push(`  ${option.id.padEnd(width)}  ${printable(option.label)}${holds}`);
  }
  lines.push('', ...endOf(decision));
  if (outcome.is === 'open') {
    const ways = [...(options.length > 0 ? ['--select ID'] : []), ...(freeText ? ['--text TEXT'] : [])];
    const until = expires === null ? '' : `, until ${timeOf(expires)}`;
    lines.push(`answer it with: hivebar decision respond ${id} ${ways.join(' or ')}${until}`);
  }
  return lines.filter((line, at) => line !== '' || (lines[at + 1] ?? '') !== '');
}

/** What became of it, for the one who waits and the one who came too late. */
export function endOf(decision: Decision): readonly string[] {
  const { id, outcome, next } = decision;
  switch (outcome.is) {
    case 'open':
      return [];
    case 'timed-out':
      return [`decision ${id}: not answered in time`];
    case 'cancelled': {
      const why = outcome.text === null ? '' : `: ${printable(outcome.text)}`;
      return [`decision ${id}: cancelled by ${printable(outcome.by)}${why}`];
    }
    case 'resolved': {
      const { by, choice, text } = outcome;
      const said = text === null ? [] : indented(text);
      if (next !== null)
        return [`decision ${id}: ${printable(by ?? '')} gives guidance; it is open again as ${next}`, ...said];
      if (choice === null) return [`decision ${id}: answered by ${printable(by ?? '')}`, ...said];
      const who = by === null ? 'not answered in time, so by default' : `answered by ${printable(by)}:`;
      return [`decision ${id}: ${who} ${choice} (${printable(labelOf(decision, choice))})`, ...said];
    }
  }
}

function stateWord({ outcome, next }: Decision): string {
  return outcome.is === 'resolved' && next !== null ? 'guided' : outcome.is;
}

function indented(text: string): readonly string[] {
  return text.split(/\r?\n/).map((line) => `  ${printable(line.replaceAll('\t', '  '))}`);
}

function timeOf(at: Instant): string {
  return `${isoOf(at).slice(0, 19)}Z`;
}
