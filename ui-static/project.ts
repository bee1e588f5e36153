import type { PersonaWire } from '../app/status/wire.ts';
import type { ProjectWire } from '../app/status/wire-brainclaw.ts';
import { drawAgents } from './agents.ts';
import { arrange } from './arrange.ts';
import { startDeeds } from './deeds.ts';
import { cloneOf, fill, mark, part, setAttribute, wear } from './dom.ts';
import { cardOf, MARKS } from './present.ts';
import { drawAges } from './rows.ts';
import { type Section, startSection } from './section.ts';
import { breakdownOf, countsOf, remarksOf, rowOfText, type SheetSection, systemOf, writtenWords } from './sheet.ts';
import { agentsOf } from './sheet-agents.ts';
import { ask } from './token.ts';
import { tokenButton } from './token-button.ts';

/** A project's board: how it stands, what asks for a person, its agents, and its sections. */
export interface ProjectBoard {
  readonly article: HTMLElement;
  /** As the status has its personas. */
  draw(board: PersonaWire, agents: readonly PersonaWire[], now: number): void;
  /** What the server told of it; only what is another is touched. */
  show(wire: ProjectWire): void;
  /** Says why it can not be had now; empty: it can. */
  note(text: string): void;
}

const DEFECTS = 'defects';
/** What its number counts. */
const WORD = 'for attention';

export function startProject(id: string, needToken: () => void): ProjectBoard {
  const article = cloneOf('project');
  const place = part(article, '.sections');
  const words = part(article, '.note');
  const sections = new Map<string, Section>();
  const deeds = startDeeds(id, needToken);
  let shown: ProjectWire | null = null;
  let trouble = '';

  const showNote = (): void => {
    const withheld = shown !== null && shown.sheet !== null && shown.defects === null;
    const reading = shown === null || shown.sheet === null ? 'The board is being read …' : '';
    const text = trouble !== '' ? trouble : withheld ? 'Titles and names need the token. ' : reading;
    if (words.textContent === text || (withheld && trouble === '' && words.querySelector('button') !== null)) return;
    words.replaceChildren(text, ...(withheld && trouble === '' ? [tokenButton(needToken)] : []));
  };
  const showSections = ({ sheet, defects, acts }: ProjectWire): void => {
    const wrong = { id: DEFECTS, rows: (defects ?? []).map(rowOfText), rest: 0, total: defects?.length ?? 0 };
    const order = [...(sheet?.sections ?? []), wrong].map((of) => {
      const section =
        sections.get(of.id) ?? startSection(id, of.id, of.id === DEFECTS ? null : (from) => loadRows(id, of.id, from));
      sections.set(of.id, section);
      section.draw(of, defects === null, acts ? deeds : null);
      return section.element;
    });
    arrange(place, order);
  };

  showNote();
  return {
    article,
    draw(board, agents, now) {
      const { look, flags, fragment, slots } = cardOf(board, now);
      setAttribute(article, 'data-id', board.id);
      setAttribute(part(article, 'h2 a'), 'href', `#persona=${fragment}`);
      wear(article, look, flags);
      mark(part(article, '.marks'), MARKS, slots);
      const written = shown?.sheet === undefined || shown.sheet === null ? null : writtenWords(shown.sheet, now);
      fill(part(article, '.head'), { ...slots, unreadWord: WORD, written });
      fill(article, { reason: slots.reason ?? null });
      drawAgents(part(article, '.agents'), agentsOf(board.id, shown?.sheet?.agents ?? [], agents), now);
      drawAges(place, now);
    },
    show(wire) {
      shown = wire;
      const { sheet } = wire;
      drawList(part(article, '.remarks'), sheet === null ? [] : remarksOf(sheet));
      drawBreakdown(part(article, '.breakdown'), sheet === null ? [] : breakdownOf(sheet));
      fill(article, {
        counts: sheet === null ? null : countsOf(sheet),
        system: sheet === null ? null : systemOf(sheet),
      });
      showSections(wire);
      showNote();
    },
    note(text) {
      trouble = text;
      showNote();
    },
  };
}

function drawList(list: HTMLElement, texts: readonly string[]): void {
  list.hidden = texts.length === 0;
  if (texts.join('\n') === [...list.children].map((one) => one.textContent).join('\n')) return;
  list.replaceChildren(
    ...texts.map((text) => {
      const entry = document.createElement('li');
      entry.textContent = text;
      return entry;
    }),
  );
}

function drawBreakdown(list: HTMLElement, parts: readonly { readonly name: string; readonly value: string }[]): void {
  list.hidden = parts.length === 0;
  while (list.children.length > parts.length) list.lastElementChild?.remove();
  for (const [i, { name, value }] of parts.entries()) {
    const entry = list.children[i] ?? list.appendChild(numberEntry());
    const term = part(entry, 'dt');
    const number = part(entry, 'dd');
    if (term.textContent !== name) term.textContent = name;
    if (number.textContent !== value) number.textContent = value;
    setAttribute(entry, 'data-value', value);
  }
}

function numberEntry(): HTMLElement {
  const entry = document.createElement('div');
  entry.append(document.createElement('dt'), document.createElement('dd'));
  return entry;
}

const TIMEOUT_MS = 20_000;

/** A page of one section, from this row on. */
async function loadRows(project: string, section: string, from: number): Promise<SheetSection> {
  const query = new URLSearchParams({ section, from: String(from) });
  const answer = await ask(`/api/brainclaw/${encodeURIComponent(project)}?${query}`, AbortSignal.timeout(TIMEOUT_MS));
  const { sheet } = (await answer.json()) as ProjectWire;
  const [found] = sheet?.sections ?? [];
  if (found === undefined) throw new Error(`there is no section ${section}`);
  return found;
}
