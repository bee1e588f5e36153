import type { LocalView, OpenGate, PersonaView } from '../../core/board/index.ts';
import { MOST_COUNTED } from '../../core/inbox/index.ts';
import type { MenuEntry } from './model.ts';
import { rowName, rowText } from './text.ts';

const NAME_MOST = 24;
const LINE_MOST = 60;
/** So many gates have a line each. */
const GATES = 5;

/** By priority, 0 first. */
const PRIORITIES = ['critical', 'high', 'normal', 'low', 'bulk'] as const;
/** It is what nobody needs to be told apart from its number. */
const NORMAL = 2;

/** What holds its agent, in the row: `, held at Stop: ship`. A gate that only warns holds nobody. */
export function heldText({ local }: PersonaView): string {
  const strict = (local?.gates ?? []).filter(({ mode }) => mode === 'strict');
  const [first] = strict;
  if (first === undefined) return '';
  const more = strict.length === 1 ? '' : ` and ${strict.length - 1} more`;
  return `, held at ${rowName(first.hook, NAME_MOST)}: ${rowName(first.id, NAME_MOST)}${more}`;
}

/** Behind its row: each gate that is not satisfied, and what waits for it by priority where that is not all normal. */
export function localNotes({ id, local }: PersonaView): MenuEntry[] {
  if (local === null) return [];
  const { gates } = local;
  const beyond = gates.length - GATES;
  const lines = [
    ...gates.slice(0, GATES).map(gateText),
    ...(beyond > 0 ? [`${beyond} more ${beyond === 1 ? 'gate' : 'gates'}`] : []),
    ...pendingText(local),
  ];
  return lines.map((label, i) => ({ is: 'text', key: `note ${i} of ${id}`, label }));
}

function gateText({ id, hook, mode, description }: OpenGate): string {
  const what = rowText(description, LINE_MOST);
  const gate = `${mode === 'strict' ? 'Held' : 'Warned'} at ${rowName(hook, NAME_MOST)}: ${rowName(id, NAME_MOST)}`;
  return what === '' ? gate : `${gate} · ${what}`;
}

function pendingText({ pending }: LocalView): string[] {
  if (pending.every((n, priority) => n === 0 || priority === NORMAL)) return [];
  const parts = PRIORITIES.flatMap((name, i) => {
    const n = pending[i] ?? 0;
    return n > 0 ? [`${n}${n >= MOST_COUNTED ? '+' : ''} ${name}`] : [];
  });
  return [`Waiting: ${parts.join(', ')}`];
}
