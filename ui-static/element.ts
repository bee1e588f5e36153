/**
 * Creates an element with these attributes and children. An attribute that is true is set empty, one that is false is left out. Text
 * is inserted as text.
 */
export function createElement<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string | boolean>> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== false) element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children);
  return element;
}

export function createButton(words: string, run: () => unknown, attributes: Readonly<Record<string, string>> = {}) {
  const button = createElement('button', { type: 'button', ...attributes }, words);
  button.addEventListener('click', () => void run());
  return button;
}

/** Creates an element for text that may run in either direction without affecting its neighbours. */
export function createIsolated(name: 'b' | 'p' | 'bdi' | 'span', text: string, attributes = {}): HTMLElement {
  return createElement(name, { dir: 'auto', ...attributes }, text);
}
