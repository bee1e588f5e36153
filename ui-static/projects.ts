import type { PersonaWire, StatusWire } from '../app/status/wire.ts';
import type { ProjectWire } from '../app/status/wire-projects.ts';
import { displayName } from '../core/format/index.ts';
import { arrange, cloneTemplate, fillSlots, getPart, loadStyle, setAttribute, showMarks, showShape } from './dom.ts';
import { formatNumber, MARKS, toCard, toFragment, truncate } from './present.ts';
import { drawAges, type Section, startItemActions, startSection } from './section.ts';
import {
  describeAgent,
  formatCounts,
  formatLastRecord,
  formatRemarks,
  formatSystem,
  getAgentName,
  joinAgents,
  listBreakdown,
  type ProjectAgent,
  type SheetSection,
  toTextRow,
} from './sheet.ts';
import { ask, createTokenButton, hasToken, TokenNeededError } from './token.ts';

/** Shows the boards of all projects. Each is loaded when the status says that it differs from the one that is shown. */
export interface Projects {
  /**
   * Draws the boards whose persona is one of these, and returns the place of each in the list, by source. `status` is the newest
   * one.
   */
  draw(status: StatusWire, visible: readonly PersonaWire[], now: number): ReadonlyMap<string, HTMLElement>;
  /** Shows the board of this persona at this place; with null each is in the list again. */
  showIn(place: HTMLElement | null, fragment: string | null): void;
  /** Called when the person entered a token: all boards are loaded again. */
  tokenCame(): void;
}

interface ProjectEntry {
  readonly board: ProjectBoard;
  /** Its place in the list. */
  readonly place: HTMLElement;
  /** The revision of the board that was requested last; null when it must be requested. */
  rev: string | null;
  isAsking: boolean;
  /** The time of the status with which the last request failed. */
  failedAt: string | null;
}

const TIMEOUT_MS = 10_000;

export function startProjects(needToken: () => void, redraw: () => void): Projects {
  loadStyle('projects.css');
  const entries = new Map<string, ProjectEntry>();
  let generation = 0;
  let only: { readonly place: HTMLElement; readonly fragment: string } | null = null;

  function enter(id: string): ProjectEntry {
    const place = document.createElement('li');
    place.className = 'project-place';
    const board = startProject(id, needToken);
    place.append(board.article);
    const entry: ProjectEntry = { board, place, rev: null, isAsking: false, failedAt: null };
    entries.set(id, entry);
    return entry;
  }

  async function load(id: string, entry: ProjectEntry, rev: string, at: string): Promise<void> {
    const mine = generation;
    const hadToken = hasToken();
    entry.isAsking = true;
    entry.rev = rev;
    try {
      const answer = await ask(`/api/brainclaw/${encodeURIComponent(id)}`, AbortSignal.timeout(TIMEOUT_MS));
      const wire = (await answer.json()) as ProjectWire;
      if (mine !== generation) return; // the token has changed since, and so what the person may see
      entry.failedAt = null;
      entry.board.note('');
      entry.board.show(wire);
    } catch (error) {
      entry.rev = null;
      if (error instanceof TokenNeededError && hadToken) return; // the refused token is dropped: asked again without it
      entry.failedAt = at;
      entry.board.note(`Could not be loaded: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      entry.isAsking = false;
      if (mine !== generation) entry.rev = null;
      redraw(); // the board may have changed in the meantime
    }
  }

  return {
    draw(status, visible, now) {
      const places = new Map<string, HTMLElement>();
      const ids = new Set(visible.map(({ id }) => id));
      for (const { id, board, source, rev } of status.projects) {
        const persona = status.personas.find((candidate) => candidate.id === board);
        if (persona === undefined || !ids.has(board)) continue;
        const entry = entries.get(id) ?? enter(id);
        const isDue = entry.rev !== rev && entry.failedAt !== status.generatedAt;
        if (!entry.isAsking && isDue) void load(id, entry, rev, status.generatedAt);
        const agents = status.personas.filter((other) => other.source === source && other.id !== board);
        entry.board.draw(persona, agents, now);
        places.set(source, entry.place);
      }
      const known = new Set(status.projects.map(({ id }) => id));
      for (const id of entries.keys()) if (!known.has(id)) entries.delete(id);
      for (const { board, place } of entries.values()) {
        const home = only !== null && toFragment(board.article.dataset.id ?? '') === only.fragment ? only.place : place;
        if (board.article.parentElement !== home) home.replaceChildren(board.article);
      }
      return places;
    },
    showIn(place, fragment) {
      only = place === null || fragment === null ? null : { place, fragment };
    },
    tokenCame() {
      generation += 1;
      for (const entry of entries.values()) {
        entry.rev = null;
        entry.failedAt = null;
      }
      redraw();
    },
  };
}

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
      const { shape, flags, fragment, slots } = toCard(board, now);
      setAttribute(article, 'data-id', board.id);
      setAttribute(getPart(article, 'h2 a'), 'href', `#persona=${fragment}`);
      showShape(article, shape, flags);
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

const SHEET_TIMEOUT_MS = 20_000;

/** Loads a page of one section, from this row on. */
async function loadRows(project: string, section: string, from: number): Promise<SheetSection> {
  const query = new URLSearchParams({ section, from: String(from) });
  const answer = await ask(
    `/api/brainclaw/${encodeURIComponent(project)}?${query}`,
    AbortSignal.timeout(SHEET_TIMEOUT_MS),
  );
  const { sheet } = (await answer.json()) as ProjectWire;
  const [firstSection] = sheet?.sections ?? [];
  if (firstSection === undefined) throw new Error(`there is no section ${section}`);
  return firstSection;
}

const NAME_CHARS = 100;

export function drawAgents(list: HTMLElement, agents: readonly ProjectAgent[], now: number): void {
  const existing = new Map([...list.children].map((child) => [child.getAttribute('data-key'), child as HTMLElement]));
  const elements = agents.map((agent) => {
    const key = agent.persona?.id ?? getAgentName(agent);
    const element = existing.get(key) ?? cloneTemplate('agent');
    setAttribute(element, 'data-key', key);
    drawAgent(element, agent, now);
    return element;
  });
  arrange(list, elements);
  list.hidden = agents.length === 0;
}

function drawAgent(element: HTMLElement, agent: ProjectAgent, now: number): void {
  const { persona, sheet } = agent;
  const words = sheet === null ? null : describeAgent(sheet);
  const link = getPart<HTMLAnchorElement>(element, 'a');
  if (persona === null) {
    showShape(element, 'pending', '');
    link.removeAttribute('href');
  } else {
    const { shape, flags } = toCard(persona, now);
    showShape(element, shape, `${flags}${(sheet?.actionable ?? 0) > 0 ? ' asked' : ''}`.trim());
    setAttribute(link, 'href', `#persona=${toFragment(persona.id)}`);
  }
  const unread = persona === null ? '–' : formatNumber(persona.unread, persona.unreadIs);
  fillSlots(element, {
    agentName: truncate(displayName(getAgentName(agent)), NAME_CHARS),
    down: persona?.state === 'DOWN' ? 'Down' : null,
    pending: persona === null && words !== null ? words.pending : `${unread} unread`,
    actionable: words?.actionable ?? null,
    work: words?.work ?? null,
    skipped: words?.skipped ?? null,
  });
}
