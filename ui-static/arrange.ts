/**
 * Makes these the children of `list`, in this order. Whatever stands right is not moved, and what has the focus keeps it, on
 * its way too. When it goes, `next` gets it.
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
