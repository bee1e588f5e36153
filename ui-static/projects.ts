import type { PersonaWire, StatusWire } from '../app/status/wire.ts';
import type { ProjectWire } from '../app/status/wire-projects.ts';
import { toFragment } from './present.ts';
import { type ProjectBoard, startProject } from './project.ts';
import { ask, hasToken, TokenNeededError } from './token.ts';

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
  const sheet = document.createElement('link');
  sheet.rel = 'stylesheet';
  sheet.href = '/assets/projects.css';
  document.head.append(sheet);
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
