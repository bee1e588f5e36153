import { browserStorage } from './browser-storage.ts';

/** Which sections a person opened or closed, when that differs from the default. Stored in this browser. */

const KEY = 'hivebar-sections';
/** The limit for stored entries. Those of removed projects stay, so the oldest are dropped. */
const MOST = 400;
/** These sections are open by default. */
const OPEN_AT_FIRST: ReadonlySet<string> = new Set(['attention']);

export function isOpen(project: string, section: string): boolean {
  return OPEN_AT_FIRST.has(section) !== loadToggled().includes(toSectionKey(project, section));
}

export function saveOpen(project: string, section: string, open: boolean): void {
  if (isOpen(project, section) === open) return;
  const name = toSectionKey(project, section);
  const before = loadToggled();
  const rest = before.filter((entry) => entry !== name);
  browserStorage.setItem(KEY, JSON.stringify((rest.length < before.length ? rest : [...rest, name]).slice(-MOST)));
}

const toSectionKey = (project: string, section: string): string => `${section} ${project}`;

function loadToggled(): readonly string[] {
  try {
    const names: unknown = JSON.parse(browserStorage.getItem(KEY) ?? '[]');
    return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
  } catch {
    return []; // written by another version or by hand: treated as empty
  }
}
