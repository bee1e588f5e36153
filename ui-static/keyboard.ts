/** The keys of the page. Each view registers its own; `?` shows all of them. */

export interface KeyBinding {
  /** The value of `KeyboardEvent.key`, or two keys that are pressed one after the other: `g f`. */
  readonly keys: string;
  /** What it does, for the list of keys. Null leaves it out. */
  readonly words: string | null;
  /** Returns false when the key has no effect now; then the browser handles it. */
  run(): unknown;
}

interface KeyGroup {
  readonly title: string;
  readonly bindings: readonly KeyBinding[];
}

const groups = new Set<KeyGroup>();
/** The second key of two is pressed within this time. */
const SECOND_MS = 1500;
let first: { readonly key: string; readonly at: number } | null = null;

/** Registers keys under a title. Returns a function that removes them. Of equal keys, the group that was added last has its effect first. */
export function addKeys(title: string, bindings: readonly KeyBinding[]): () => void {
  const group = { title, bindings };
  groups.add(group);
  return () => groups.delete(group);
}

/** Returns the groups as they are shown: the newest first. */
export function listKeys(): readonly KeyGroup[] {
  return [...groups].filter(({ bindings }) => bindings.length > 0).toReversed();
}

document.addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping()) return;
  const before = first !== null && event.timeStamp - first.at < SECOND_MS ? `${first.key} ` : '';
  first = null;
  const bindings = listKeys().flatMap((group) => group.bindings);
  for (const { keys, run } of bindings) {
    if (keys !== before + event.key || run() === false) continue;
    event.preventDefault();
    return;
  }
  if (bindings.some(({ keys }) => keys.startsWith(`${event.key} `))) first = { key: event.key, at: event.timeStamp };
});

/** While a person writes, or a dialog is open, letters are theirs. */
function isTyping(): boolean {
  const typing = ':is(input:not([type="checkbox"], [type="radio"]), textarea, select, [contenteditable="true"])';
  return document.activeElement?.matches(typing) === true || document.querySelector('dialog[open]') !== null;
}
