import type { PersonaWire } from '../app/status/wire.ts';
import { displayName } from '../core/format/index.ts';
import { fillSlots, getPart } from './dom.ts';
import { formatPendingCount, truncate } from './present.ts';

type PersonaGate = PersonaWire['gates'][number];

const NAME_CHARS = 200;
const MODES = { strict: 'blocks', soft: 'warns' } as const;

/** Draws what only the local hive knows of an inbox: its unread mail by priority, and its open gates. */
export function drawLocal(body: HTMLElement, { pending, gates }: PersonaWire): void {
  const hasPending = pending?.some((n) => n > 0) ?? false;
  getPart(body, '#local').hidden = !hasPending && gates.length === 0;
  getPart(body, '#priorities').hidden = !hasPending;
  getPart(body, '#gates').hidden = gates.length === 0;
  if (pending !== null) fillSlots(body, Object.fromEntries(pending.map((n, at) => [`p${at}`, formatPendingCount(n)])));
  const list = getPart(body, '#gates ul');
  const key = JSON.stringify(gates);
  if (list.dataset.shown === key) return;
  list.dataset.shown = key;
  list.replaceChildren(...gates.map(createGateItem));
}

function createGateItem({ id, hook, mode }: PersonaGate): HTMLElement {
  const entry = document.createElement('li');
  entry.dataset.mode = mode;
  const name = document.createElement('bdi');
  name.textContent = truncate(displayName(id), NAME_CHARS);
  const where = document.createElement('span');
  where.textContent = `${MODES[mode]} at ${truncate(displayName(hook), NAME_CHARS)}`;
  entry.append(name, where);
  return entry;
}
