import { browserStorage } from './browser-storage.ts';

/** Which sections a person opened or closed against what they are at first; kept in this browser. */

const KEY = 'hivebar-sections';
/** Of projects that are gone too: the oldest are forgotten. */
const MOST = 400;
/** Open until it is closed. */
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
    return []; // another version's, or somebody wrote there by hand: as if nothing had been kept
  }
}
