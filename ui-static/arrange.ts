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
