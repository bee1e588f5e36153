import { isPressing, type OpenDecision, type Snapshot } from '../../core/board/index.ts';
import type { MenuAction, MenuCommand, MenuEntry } from './model.ts';
import { formatPersonaName } from './persona-row.ts';
import { formatRowName, formatRowText } from './text.ts';

/** The most rows that are shown. A person answers one decision at a time. */
const ROWS = 5;
const NAME_MOST = 40;
const PROMPT_MOST = 60;
const LINE_MOST = 80;

/** Builds the rows of open decisions: first those that block an agent, then the oldest. */
export function buildDecisionRows(snapshot: Snapshot): MenuEntry[] {
  const decisions = snapshot.decisions.toSorted(
    (a, b) => computeRank(a) - computeRank(b) || a.created - b.created || a.id - b.id,
  );
  const rest = decisions.length - ROWS;
  return [
    ...decisions.slice(0, ROWS).map((decision) => buildDecisionRow(decision, snapshot)),
    ...(rest > 0
      ? [createPageCommand('decisions beyond', `${rest} more ${rest === 1 ? 'question' : 'questions'} for you`, {})]
      : []),
  ];
}

/** Builds a submenu with the details, one entry per option, and a link to the page, where text can be written. */
function buildDecisionRow(decision: OpenDecision, { personas }: Snapshot): MenuEntry {
  const { id, persona, prompt, context, options, fallback } = decision;
  const asking = personas.find((p) => p.id === persona);
  const label = `${asking === undefined ? formatRowName(persona, NAME_MOST) || '?' : formatPersonaName(asking)} asks: ${formatRowText(prompt, PROMPT_MOST) || '?'}`;
  const page = asking === undefined ? {} : { persona }; // a persona that is not watched has no page
  const key = `decision ${id}`;
  const first = findFirstLine(context ?? '');
  return {
    is: 'submenu',
    key,
    label,
    entries: [
      ...(first === '' ? [] : [{ is: 'text', key: `${key} context`, label: first } as const]),
      ...options.map(
        (option): MenuEntry => ({
          is: 'command',
          key: `${key} option ${option.id}`,
          label: `${formatRowText(option.label, LINE_MOST) || option.id}${option.id === fallback ? ' (default)' : ''}`,
          action: { name: 'decide', params: { decision: id, select: option.id } },
        }),
      ),
      { is: 'separator', key: `${key} line` },
      createPageCommand(`${key} page`, 'Answer on the page', page),
    ],
    instead: createPageCommand(key, label, page),
  };
}

function findFirstLine(text: string): string {
  for (const line of text.split('\n')) {
    const rowLine = formatRowText(line, LINE_MOST);
    if (rowLine !== '') return rowLine;
  }
  return '';
}

function createPageCommand(key: string, label: string, params: MenuAction['params']): MenuCommand {
  return { is: 'command', key, label, action: { name: 'page', params } };
}

function computeRank(decision: OpenDecision): number {
  return isPressing(decision) ? 0 : 1;
}
