import { isPressing, type OpenDecision, type Snapshot } from '../../core/board/index.ts';
import type { MenuCommand, MenuEntry, Wanted } from './model.ts';
import { nameOf } from './persona-row.ts';
import { rowName, rowText } from './text.ts';

/** So many are in sight; a person answers one at a time. */
const ROWS = 5;
const NAME_MOST = 40;
const PROMPT_MOST = 60;
const LINE_MOST = 80;

/** What people are asked and nobody answered: those for which somebody stands still first, then the oldest. */
export function decisionRows(snapshot: Snapshot): MenuEntry[] {
  const all = snapshot.decisions.toSorted((a, b) => rank(a) - rank(b) || a.created - b.created || a.id - b.id);
  const rest = all.length - ROWS;
  return [
    ...all.slice(0, ROWS).map((decision) => decisionRow(decision, snapshot)),
    ...(rest > 0 ? [toPage('decisions beyond', `${rest} more to decide`, {})] : []),
  ];
}

/** Behind it what one has to know, an entry an option, and the page, where more can be said than that. */
function decisionRow(decision: OpenDecision, { personas }: Snapshot): MenuEntry {
  const { id, persona, prompt, context, options, fallback } = decision;
  const asking = personas.find((p) => p.id === persona);
  const label = `${asking === undefined ? rowName(persona, NAME_MOST) || '?' : nameOf(asking)} asks: ${rowText(prompt, PROMPT_MOST) || '?'}`;
  const page = asking === undefined ? {} : { persona }; // the page of one who is not watched does not open
  const key = `decision ${id}`;
  const first = firstLineOf(context ?? '');
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
          label: `${rowText(option.label, LINE_MOST) || option.id}${option.id === fallback ? ' (default)' : ''}`,
          wanted: { name: 'decide', params: { decision: id, select: option.id } },
        }),
      ),
      { is: 'separator', key: `${key} line` },
      toPage(`${key} page`, 'Answer on the page', page),
    ],
    instead: toPage(key, label, page),
  };
}

function firstLineOf(text: string): string {
  for (const line of text.split('\n')) {
    const shown = rowText(line, LINE_MOST);
    if (shown !== '') return shown;
  }
  return '';
}

function toPage(key: string, label: string, params: Wanted['params']): MenuCommand {
  return { is: 'command', key, label, wanted: { name: 'page', params } };
}

function rank(decision: OpenDecision): number {
  return isPressing(decision) ? 0 : 1;
}
