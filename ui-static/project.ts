import type { PersonaWire } from '../app/status/wire.ts';
import type { ProjectWire } from '../app/status/wire-projects.ts';
import { drawAgents } from './agents.ts';
import { arrange } from './arrange.ts';
import { cloneTemplate, fillSlots, getPart, setAttribute, showLook, showMarks } from './dom.ts';
import { startItemActions } from './item-actions.ts';
import { MARKS, toCard } from './present.ts';
import { drawAges } from './rows.ts';
import { type Section, startSection } from './section.ts';
import {
  formatCounts,
  formatLastRecord,
  formatRemarks,
  formatSystem,
  listBreakdown,
  type SheetSection,
  toTextRow,
} from './sheet.ts';
import { joinAgents } from './sheet-agents.ts';
import { ask } from './token.ts';
import { createTokenButton } from './token-button.ts';

/** The board of a project: its state, what needs a person, its agents, and its sections. */
export interface ProjectBoard {
  readonly article: HTMLElement;
  /** Draws the board and the agents from the personas of the status. */
  draw(board: PersonaWire, agents: readonly PersonaWire[], now: number): void;
  /** Shows the sheet that the server sent. Only what differs is changed. */
  show(wire: ProjectWire): void;
  /** Shows why the sheet is not available now; with '' that it is. */
  note(text: string): void;
}

const DEFECTS = 'defects';
/** The word after its count. */
const WORD = 'for attention';

export function startProject(id: string, needToken: () => void): ProjectBoard {
  const article = cloneTemplate('project');
  const place = getPart(article, '.sections');
  const words = getPart(article, '.note');
  const sections = new Map<string, Section>();
  const itemActions = startItemActions(id, needToken);
  let current: ProjectWire | null = null;
  let trouble = '';

  const showNote = (): void => {
    const withheld = current !== null && current.sheet !== null && current.defects === null;
    const reading = current === null || current.sheet === null ? 'Loading the board …' : '';
    const text = trouble !== '' ? trouble : withheld ? 'Enter the token to see titles and names. ' : reading;
    if (words.textContent === text || (withheld && trouble === '' && words.querySelector('button') !== null)) return;
    words.replaceChildren(text, ...(withheld && trouble === '' ? [createTokenButton(needToken)] : []));
  };
  const showSections = ({ sheet, defects, acts }: ProjectWire): void => {
    const wrong = { id: DEFECTS, rows: (defects ?? []).map(toTextRow), rest: 0, total: defects?.length ?? 0 };
    const order = [...(sheet?.sections ?? []), wrong].map((sheetSection) => {
      const section =
        sections.get(sheetSection.id) ??
        startSection(
          id,
          sheetSection.id,
          sheetSection.id === DEFECTS ? null : (from) => loadRows(id, sheetSection.id, from),
        );
      sections.set(sheetSection.id, section);
      section.draw(sheetSection, defects === null, acts ? itemActions : null);
      return section.element;
    });
    arrange(place, order);
  };

  showNote();
  return {
    article,
    draw(board, agents, now) {
      const { look, flags, fragment, slots } = toCard(board, now);
      setAttribute(article, 'data-id', board.id);
      setAttribute(getPart(article, 'h2 a'), 'href', `#persona=${fragment}`);
      showLook(article, look, flags);
      showMarks(getPart(article, '.marks'), MARKS, slots);
      const written =
        current?.sheet === undefined || current.sheet === null ? null : formatLastRecord(current.sheet, now);
      fillSlots(getPart(article, '.head'), { ...slots, unreadWord: WORD, written });
      fillSlots(article, { reason: slots.reason ?? null });
      drawAgents(getPart(article, '.agents'), joinAgents(board.id, current?.sheet?.agents ?? [], agents), now);
      drawAges(place, now);
    },
    show(wire) {
      current = wire;
      const { sheet } = wire;
      drawList(getPart(article, '.remarks'), sheet === null ? [] : formatRemarks(sheet));
      drawBreakdown(getPart(article, '.breakdown'), sheet === null ? [] : listBreakdown(sheet));
      fillSlots(article, {
        counts: sheet === null ? null : formatCounts(sheet),
        system: sheet === null ? null : formatSystem(sheet),
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
  if (texts.join('\n') === [...list.children].map((item) => item.textContent).join('\n')) return;
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
    const entry = list.children[i] ?? list.appendChild(createNumberEntry());
    const term = getPart(entry, 'dt');
    const number = getPart(entry, 'dd');
    if (term.textContent !== name) term.textContent = name;
    if (number.textContent !== value) number.textContent = value;
    setAttribute(entry, 'data-value', value);
  }
}

function createNumberEntry(): HTMLElement {
  const entry = document.createElement('div');
  entry.append(document.createElement('dt'), document.createElement('dd'));
  return entry;
}

const TIMEOUT_MS = 20_000;

/** Loads a page of one section, from this row on. */
async function loadRows(project: string, section: string, from: number): Promise<SheetSection> {
  const query = new URLSearchParams({ section, from: String(from) });
  const answer = await ask(`/api/brainclaw/${encodeURIComponent(project)}?${query}`, AbortSignal.timeout(TIMEOUT_MS));
  const { sheet } = (await answer.json()) as ProjectWire;
  const [firstSection] = sheet?.sections ?? [];
  if (firstSection === undefined) throw new Error(`there is no section ${section}`);
  return firstSection;
}
