import type { PermissionWire, StatusWire } from '../app/status/wire.ts';
import { displayName, formatDuration } from '../core/format/index.ts';
import { cloneTemplate, fillSlots, getById, getPart, setAttribute } from './dom.ts';
import { ask, createTokenButton, hasToken, RefusalError, runAction, TokenNeededError } from './token.ts';

/**
 * Shows the permission prompts of agents that wait for a person, oldest first, each with the whole call and its buttons. All text in them
 * is untrusted and inserted as text.
 */
export interface PermissionsPanel {
  draw(status: StatusWire, now: number): void;
  /** Called when the person entered a token. */
  tokenCame(): void;
}

interface PromptEntry {
  readonly article: HTMLElement;
  permission: PermissionWire | null;
  /** When it ended; null while it is open, as far as is known. */
  overAt: number | null;
  isGoing: boolean;
}

type Answer = 'allow' | 'deny' | 'terminal';

const TIMEOUT_MS = 5000;
const AGAIN_MS = 2000;
const LINGER_MS = 8000;
/** A click right after the list moved was meant for what stood there before. */
const MOVED_MS = 600;

const RESULTS: Readonly<Record<Answer, string>> = {
  allow: 'Allowed.',
  deny: 'Denied.',
  terminal: 'Answer it in its terminal.',
};

export function startPermissionsPanel(needToken: () => void): PermissionsPanel {
  const section = getById('permissions');
  const list = getById('prompts');
  const words = getById('permissions-words');
  const entries = new Map<number, PromptEntry>();
  let againAt = 0;
  let movedAt = Number.NEGATIVE_INFINITY;
  let redraw = (): void => {};

  function say({ article }: PromptEntry, text: string, shape: 'well' | 'not'): void {
    const line = getPart(article, '.said');
    line.dataset.look = shape;
    line.textContent = text;
  }

  function end(entry: PromptEntry, text: string, shape: 'well' | 'not'): void {
    if (entry.overAt !== null) return;
    entry.overAt = performance.now();
    entry.article.dataset.flags = 'over';
    getPart<HTMLFieldSetElement>(entry.article, 'fieldset').disabled = true;
    say(entry, text, shape);
  }

  async function answer(entry: PromptEntry, permission: PermissionWire, choice: Answer): Promise<void> {
    if (performance.now() - movedAt < MOVED_MS)
      return say(entry, 'The list has just moved. Look again, and click.', 'not');
    entry.isGoing = true;
    const fieldset = getPart<HTMLFieldSetElement>(entry.article, 'fieldset');
    fieldset.disabled = true; // a second click does nothing
    say(entry, '', 'well');
    try {
      await runAction('permit', { permission: permission.id, answer: choice, from: 'page' });
      end(entry, RESULTS[choice], 'well');
    } catch (error) {
      fieldset.disabled = false;
      if (error instanceof TokenNeededError) needToken();
      say(entry, formatFailure(error), 'not');
    }
    entry.isGoing = false;
    redraw();
  }

  function fill(entry: PromptEntry, permission: PermissionWire): void {
    entry.permission = permission;
    const { harness, subagent, cwd, tool, text, cut } = permission;
    const { article } = entry;
    fillSlots(article, {
      tool: displayName(tool),
      harness: `${displayName(harness)}${subagent ? ', a subagent' : ''}`,
      folder: cwd === null ? null : displayName(cwd),
      cut: cut === 0 ? null : `cut: ${cut} more characters. Read the whole call in the terminal, and answer it there.`,
    });
    getPart(article, 'pre').replaceChildren(
      ...text.split('\n').map((line, i, { length }) => {
        const element = document.createElement('span'); // where a long line wraps, its rest is indented and poses as no field
        element.textContent = i < length - 1 ? `${line}\n` : line;
        return element;
      }),
    );
    const fieldset = getPart<HTMLFieldSetElement>(article, 'fieldset');
    fieldset.disabled = false;
    const allow = getPart<HTMLButtonElement>(article, '[data-answer="allow"]');
    if (cut > 0) allow.remove(); // nobody can allow what was not shown to its end
    for (const button of fieldset.querySelectorAll('button'))
      button.addEventListener('click', () => void answer(entry, permission, button.dataset.answer as Answer));
  }

  async function load(): Promise<void> {
    againAt = performance.now() + AGAIN_MS;
    try {
      const response = await ask('/api/v1/permissions', AbortSignal.timeout(TIMEOUT_MS));
      const { permissions } = (await response.json()) as { permissions: readonly PermissionWire[] };
      for (const permission of permissions) {
        const entry = entries.get(permission.number);
        if (entry?.permission === null && entry.overAt === null) fill(entry, permission);
      }
    } catch (error) {
      if (!(error instanceof TokenNeededError)) words.textContent = `Could not be loaded: ${formatFailure(error)}`;
      return;
    }
    redraw();
  }

  function noteToken(): void {
    if (hasToken()) words.textContent = '';
    else if (words.querySelector('button') === null)
      words.replaceChildren('Enter the token to see and answer these. ', createTokenButton(needToken));
  }

  function draw(status: StatusWire, now: number): void {
    redraw = () => draw(status, Date.now());
    const open = new Map(status.permissions.map((permission) => [permission.number, permission]));
    for (const [number, { persona, expires }] of open) {
      let entry = entries.get(number);
      if (entry === undefined) {
        entry = { article: cloneTemplate('permission'), permission: null, overAt: null, isGoing: false };
        setAttribute(entry.article, 'data-number', String(number));
        entries.set(number, entry);
        list.append(entry.article);
      }
      const label = status.personas.find(({ id }) => id === persona)?.label ?? persona;
      const left = Date.parse(expires) - now;
      fillSlots(entry.article, {
        asks: displayName(label),
        left: entry.overAt !== null || left <= 0 ? null : `its terminal asks in ${formatDuration(left)}`,
      });
    }
    for (const [number, entry] of entries) {
      if (open.has(number)) continue;
      if (entry.overAt === null && entry.permission !== null && !entry.isGoing)
        end(entry, 'Over: it was answered elsewhere, or its agent went on.', 'not');
      const lingers = entry.overAt !== null && performance.now() - entry.overAt < LINGER_MS;
      if (lingers || entry.isGoing || entry.article.matches(':hover, :focus-within')) continue;
      entry.article.remove();
      entries.delete(number);
      movedAt = performance.now();
    }
    section.hidden = entries.size === 0;
    noteToken();
    const isMissing = [...entries.values()].some(({ permission, overAt }) => permission === null && overAt === null);
    if (isMissing && hasToken() && performance.now() >= againAt) void load();
  }

  return {
    draw,
    tokenCame() {
      againAt = 0;
      redraw();
    },
  };
}

function formatFailure(error: unknown): string {
  if (error instanceof TokenNeededError) return 'Enter the token to answer.';
  if (error instanceof RefusalError) return `Failed: ${error.message}`;
  return `No reply (${error instanceof Error ? error.message : String(error)}). Your answer may have arrived.`;
}
