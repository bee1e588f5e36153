import type { Slots } from './present.ts';

/** Helpers for elements. All text is inserted as text; no value contains markup. */

export function getById(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no element ${id}`);
  return element;
}

/** Returns the one element of `root` that matches. @throws Error when index.html has none */
export function getPart<E extends Element = HTMLElement>(root: ParentNode, selector: string): E {
  const element = root.querySelector<E>(selector);
  if (element === null) throw new Error(`the page has no ${selector}`);
  return element;
}

/** Returns a copy of the template's content. */
export function cloneTemplate(id: string): HTMLElement {
  const template = getById(id);
  const first = template instanceof HTMLTemplateElement ? template.content.firstElementChild : null;
  if (first === null) throw new Error(`the page has no template ${id}`);
  return document.importNode(first, true) as HTMLElement;
}

/** Puts each slot's text into its elements, or hides them. What is already the same is not changed. */
export function fillSlots(root: ParentNode, slots: Slots): void {
  for (const element of root.querySelectorAll<HTMLElement>('[data-slot]')) {
    const text = slots[element.dataset.slot ?? ''];
    if (text === undefined) continue;
    if (element.hidden !== (text === null)) element.hidden = text === null;
    if (element.textContent !== (text ?? '')) element.textContent = text;
  }
}

/** Shows those of `names` that have text, in this order, and no others. */
export function showMarks(place: Element, names: readonly string[], slots: Slots): void {
  const existing = new Map([...place.children].map((child) => [child.getAttribute('data-slot'), child]));
  let at = 0;
  for (const name of names) {
    const text = slots[name] ?? null;
    const element = existing.get(name) ?? document.createElement('span');
    if (text === null) {
      element.remove();
      continue;
    }
    setAttribute(element, 'data-slot', name);
    if (element.textContent !== text) element.textContent = text;
    if (place.children[at] !== element) place.insertBefore(element, place.children[at] ?? null);
    at += 1;
  }
}

export function setAttribute(element: Element, name: string, value: string): void {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/** Shows a state by its shape, and to the style sheet by `data-look` and `data-flags`. */
export function showShape(element: HTMLElement, shape: string, flags: string): void {
  setAttribute(element, 'data-look', shape);
  setAttribute(element, 'data-flags', flags);
  const use = element.querySelector('use');
  if (use !== null) setAttribute(use, 'href', `#${shape}`);
}

/**
 * Makes these elements the children of `list`, in this order. An element in the right place is not moved, and the focused element
 * keeps the focus, even when it moves. If it is removed, `next` gets the focus.
 */
export function arrange(list: HTMLElement, elements: readonly HTMLElement[], next: HTMLElement | null = null): void {
  const focused = list.contains(document.activeElement) ? (document.activeElement as HTMLElement) : null;
  const stays = new Set(elements);
  for (const child of [...list.children]) if (!stays.has(child as HTMLElement)) child.remove();
  for (const [i, element] of elements.entries()) {
    if (list.children[i] !== element) list.insertBefore(element, list.children[i] ?? null);
  }
  if (focused === null || document.activeElement === focused) return;
  (list.contains(focused) ? focused : next)?.focus({ preventScroll: true });
}

const GLIDE_MS = 220;

/** Lets an element glide to its place from this many pixels away, where it was before, so that the eye can follow. */
export function glideFrom(element: HTMLElement, x: number, y: number): void {
  if (window.matchMedia('(prefers-reduced-motion: reduce)').matches) return;
  const frames = [{ transform: `translate(${x}px, ${y}px)` }, { transform: 'none' }];
  element.animate(frames, { duration: GLIDE_MS, easing: 'ease-out' });
}

/** A longer pause of the page would be felt. */
const SLICE_MS = 8;
const PAUSE_MS = 8;

/** Cuts long work into slices. In the pause after each, about which `pauseIfDue` tells, the page answers its reader. */
export function createSlices(): { pauseIfDue(): Promise<boolean> } {
  let from = performance.now();
  return {
    async pauseIfDue() {
      if (performance.now() - from < SLICE_MS) return false;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      from = performance.now();
      return true;
    },
  };
}

/** Also a card near the window counts as seen: it comes into it next. */
export function isSeen({ firstElementChild }: HTMLElement): boolean {
  return firstElementChild?.checkVisibility({ contentVisibilityAuto: true }) ?? true;
}

const SVG = 'http://www.w3.org/2000/svg';

export function createSvg(name: string, attributes: Readonly<Record<string, string>>): SVGElement {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

/** Makes a button copy the result of `text`, where the browser allows it. */
export function enableCopy(button: HTMLButtonElement, text: () => string): void {
  if (navigator.clipboard === undefined) return;
  button.hidden = false;
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = 'Copied';
    } catch {
      button.textContent = 'Not allowed'; // the browser or the person refused; the command can still be selected
    }
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 1500);
  });
}

/** Adds a style sheet that only some views need, once. */
export function loadStyle(name: string): void {
  const href = `/assets/${name}`;
  if (document.querySelector(`link[href="${href}"]`) !== null) return;
  const sheet = document.createElement('link');
  sheet.rel = 'stylesheet';
  sheet.href = href;
  document.head.append(sheet);
}
