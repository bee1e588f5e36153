import { getById } from './dom.ts';
import { listKeys } from './keyboard.ts';

/** Shows the keys that have an effect now, in a dialog. It is loaded when somebody asks for it. */
export function showKeys(): void {
  const dialog = getById('keys') as HTMLDialogElement;
  const groups = listKeys().map(({ title, bindings }) => {
    const shown = bindings.filter(({ words }) => words !== null);
    const section = document.createElement('section');
    const heading = document.createElement('h3');
    heading.textContent = title;
    const rows = document.createElement('dl');
    for (const { keys, words } of shown) {
      const term = document.createElement('dt');
      term.append(...keys.split(' ').flatMap((key, i) => [...(i === 0 ? [] : [' then ']), createKey(key)]));
      const detail = document.createElement('dd');
      detail.textContent = words;
      rows.append(term, detail);
    }
    section.append(heading, rows);
    return { section, count: shown.length };
  });
  getById('key-list').replaceChildren(...groups.filter(({ count }) => count > 0).map(({ section }) => section));
  if (!dialog.open) dialog.showModal();
}

function createKey(key: string): HTMLElement {
  const element = document.createElement('kbd');
  element.textContent = key;
  return element;
}
