import type { PersonaWire, StatusWire } from '../app/status/wire.ts';
import type { ProjectWire } from '../app/status/wire-brainclaw.ts';
import { fragmentOf } from './present.ts';
import { type ProjectBoard, startProject } from './project.ts';
import { ask, hasToken, TokenNeeded } from './token.ts';

/** The boards of all projects. Each is asked for when the status says that it is another than the one that is shown. */
export interface Projects {
  /**
   * Draws the boards whose persona is one of these, and gives each its place in the list, by source.
   * `status`: the last that was heard.
   */
  draw(status: StatusWire, shown: readonly PersonaWire[], now: number): ReadonlyMap<string, HTMLElement>;
  /** Shows the board of this persona at this place; null: each stands in the list again. */
  showIn(place: HTMLElement | null, fragment: string | null): void;
  /** The person gave a token: all are asked for anew. */
  tokenCame(): void;
}

interface One {
  readonly board: ProjectBoard;
  /** Where it stands in the list. */
  readonly place: HTMLElement;
  /** Of the board that was asked for last; null: it has to be asked for. */
  rev: string | null;
  isAsking: boolean;
  /** The status that was the last one when it could not be had. */
  failedAt: string | null;
}

const TIMEOUT_MS = 10_000;

export function startProjects(needToken: () => void, redraw: () => void): Projects {
  const sheet = document.createElement('link');
  sheet.rel = 'stylesheet';
  sheet.href = '/assets/projects.css';
  document.head.append(sheet);
  const all = new Map<string, One>();
  let asked = 0;
  let only: { readonly place: HTMLElement; readonly fragment: string } | null = null;

  function enter(id: string): One {
    const place = document.createElement('li');
    place.className = 'project-place';
    const board = startProject(id, needToken);
    place.append(board.article);
    const one: One = { board, place, rev: null, isAsking: false, failedAt: null };
    all.set(id, one);
    return one;
  }

  async function load(id: string, one: One, rev: string, at: string): Promise<void> {
    const mine = asked;
    const hadToken = hasToken();
    one.isAsking = true;
    one.rev = rev;
    try {
      const answer = await ask(`/api/brainclaw/${encodeURIComponent(id)}`, AbortSignal.timeout(TIMEOUT_MS));
      const wire = (await answer.json()) as ProjectWire;
      if (mine !== asked) return; // what the person may see is another since
      one.failedAt = null;
      one.board.note('');
      one.board.show(wire);
    } catch (error) {
      one.rev = null;
      if (error instanceof TokenNeeded && hadToken) return; // one that was no good is forgotten: asked again without
      one.failedAt = at;
      one.board.note(`Not to be had now: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      one.isAsking = false;
      if (mine !== asked) one.rev = null;
      redraw(); // it may have changed meanwhile
    }
  }

  return {
    draw(status, shown, now) {
      const places = new Map<string, HTMLElement>();
      const ids = new Set(shown.map(({ id }) => id));
      for (const { id, board, source, rev } of status.projects) {
        const persona = status.personas.find((one) => one.id === board);
        if (persona === undefined || !ids.has(board)) continue;
        const one = all.get(id) ?? enter(id);
        const isDue = one.rev !== rev && one.failedAt !== status.generatedAt;
        if (!one.isAsking && isDue) void load(id, one, rev, status.generatedAt);
        const agents = status.personas.filter((other) => other.source === source && other.id !== board);
        one.board.draw(persona, agents, now);
        places.set(source, one.place);
      }
      const known = new Set(status.projects.map(({ id }) => id));
      for (const id of all.keys()) if (!known.has(id)) all.delete(id);
      for (const { board, place } of all.values()) {
        const home = only !== null && fragmentOf(board.article.dataset.id ?? '') === only.fragment ? only.place : place;
        if (board.article.parentElement !== home) home.replaceChildren(board.article);
      }
      return places;
    },
    showIn(place, fragment) {
      only = place === null || fragment === null ? null : { place, fragment };
    },
    tokenCame() {
      asked += 1;
      for (const one of all.values()) {
        one.rev = null;
        one.failedAt = null;
      }
      redraw();
    },
  };
}
