import type { PersonaWire } from '../app/status/wire.ts';
import { displayName } from '../core/format/index.ts';
import { fill, part } from './dom.ts';
import { capped, pendingNumber } from './present.ts';

type Gate = PersonaWire['gates'][number];

const NAME_CHARS = 200;
const MODES = { strict: 'blocks', soft: 'warns' } as const;

/** What only the hive of this machine knows of an inbox: its unread mail by priority, and its open gates. */
export function drawLocal(body: HTMLElement, { pending, gates }: PersonaWire): void {
  const some = pending?.some((n) => n > 0) ?? false;
  part(body, '#local').hidden = !some && gates.length === 0;
  part(body, '#priorities').hidden = !some;
  part(body, '#gates').hidden = gates.length === 0;
  if (pending !== null) fill(body, Object.fromEntries(pending.map((n, at) => [`p${at}`, pendingNumber(n)])));
  const list = part(body, '#gates ul');
  const key = JSON.stringify(gates);
  if (list.dataset.shown === key) return;
  list.dataset.shown = key;
  list.replaceChildren(...gates.map(entryOf));
}

function entryOf({ id, hook, mode }: Gate): HTMLElement {
  const entry = document.createElement('li');
  entry.dataset.mode = mode;
  const name = document.createElement('bdi');
  name.textContent = capped(displayName(id), NAME_CHARS);
  const where = document.createElement('span');
  where.textContent = `${MODES[mode]} at ${capped(displayName(hook), NAME_CHARS)}`;
  entry.append(name, where);
  return entry;
}
