import { kept } from './kept.ts';

/** Which sections a person opened or closed against what they are at first; kept in this browser. */

const KEY = 'hivebar-sections';
/** Of projects that are gone too: the oldest are forgotten. */
const MOST = 400;
/** Open until it is closed. */
const OPEN_AT_FIRST: ReadonlySet<string> = new Set(['attention']);

export function isOpen(project: string, section: string): boolean {
  return OPEN_AT_FIRST.has(section) !== turned().includes(nameOf(project, section));
}

export function keepOpen(project: string, section: string, open: boolean): void {
  if (isOpen(project, section) === open) return;
  const name = nameOf(project, section);
  const before = turned();
  const rest = before.filter((one) => one !== name);
  kept.setItem(KEY, JSON.stringify((rest.length < before.length ? rest : [...rest, name]).slice(-MOST)));
}

const nameOf = (project: string, section: string): string => `${section} ${project}`;

function turned(): readonly string[] {
  try {
    const names: unknown = JSON.parse(kept.getItem(KEY) ?? '[]');
    return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
  } catch {
    return []; // another version's, or somebody wrote there by hand: as if nothing had been kept
  }
}
