import type { PersonaView, Snapshot } from '../../core/board/index.ts';
import type { Count, Instant } from '../../core/model/index.ts';
import { iconOf, isDown, isOn } from './icon.ts';
import type { MenuEntry, TrayModel } from './model.ts';
import { rowText } from './text.ts';

const MINUTE = 60_000;
const ROWS = 20;
const LABEL_MOST = 40;

/** The whole tray for one picture of the board. Every part comes from it, so no part can lag behind another. */
export function trayModel(snapshot: Snapshot, now: Instant): TrayModel {
  const { unread, urgent } = snapshot.totals;
  return {
    icon: iconOf(snapshot, now),
    summary: summaryOf(snapshot, now),
    count: atLeastOne(unread) ? numberOf(unread) : '',
    attention: isDown(snapshot) || atLeastOne(urgent),
    menu: menuOf(snapshot, now),
  };
}

/** When time alone changes the model: a minute more of an outage, the end of a pause. Null: never. */
export function changesAt(snapshot: Snapshot, now: Instant): Instant | null {
  const moments = snapshot.personas.flatMap(({ reach }) =>
    reach.is === 'down' ? [reach.since + (Math.floor((now - reach.since) / MINUTE) + 1) * MINUTE] : [],
  );
  if (snapshot.paused.is === 'at' && snapshot.paused.at > now) moments.push(snapshot.paused.at);
  return moments.length === 0 ? null : Math.min(...moments);
}

function summaryOf(snapshot: Snapshot, now: Instant): string {
  const { unread, urgent, down, personas } = snapshot.totals;
  const parts: string[] = [];
  if (personas === 0) parts.push('No personas');
  else if (snapshot.personas.every((p) => p.reach.is === 'unseen')) parts.push('Looking for mail');
  else if (unread.is === 'unknown') parts.push('Unread unknown');
  else parts.push(unread.n === 0 && unread.is === 'exact' ? 'No unread' : `${numberOf(unread)} unread`);
  if (atLeastOne(urgent)) parts.push(`${numberOf(urgent)} urgent`);
  if (down > 0) parts.push(`${down} down`);
  else if (isDown(snapshot)) parts.push('hive down');
  if (isOn(snapshot.paused, now)) parts.push('notifications paused');
  return parts.join(', ');
}

function menuOf(snapshot: Snapshot, now: Instant): MenuEntry[] {
  const paused = isOn(snapshot.paused, now);
  return [
    { is: 'text', key: 'summary', label: summaryOf(snapshot, now) },
    { is: 'separator', key: 'line-1' },
    ...rowsOf(snapshot, now),
    { is: 'separator', key: 'line-2' },
    { is: 'command', key: 'page', label: 'Open status page', wanted: { name: 'open', params: {} } },
    { is: 'command', key: 'poll', label: 'Poll now', wanted: { name: 'poll', params: {} } },
    {
      is: 'check',
      key: 'pause',
      label: 'Pause notifications',
      checked: paused,
      wanted: { name: paused ? 'resume' : 'pause', params: {} },
    },
    { is: 'separator', key: 'line-3' },
    { is: 'command', key: 'quit', label: 'Quit', wanted: { name: 'quit', params: {} } },
  ];
}

/** What needs a person comes first: hives and personas that are down, urgent mail, unread mail, the rest. */
function rowsOf(snapshot: Snapshot, now: Instant): MenuEntry[] {
  const hives = snapshot.hives
    .filter((hive) => hive.state === 'DOWN' && !snapshot.personas.some((p) => p.source === hive.source))
    .map((hive): MenuEntry => {
      const label = `${rowText(hive.source, LABEL_MOST)} - DOWN ${rowText(hive.address, LABEL_MOST)}`;
      return { is: 'command', key: `hive ${hive.source}`, label, wanted: { name: 'open', params: {} } };
    });
  const personas = snapshot.personas
    .toSorted((a, b) => rank(a) - rank(b)) // stable: within a rank they stay by id
    .map(
      (p): MenuEntry => ({
        is: 'command',
        key: `persona ${p.id}`,
        label: `${rowText(p.label, LABEL_MOST) || rowText(p.id, LABEL_MOST)} - ${newsOf(p, now)}`,
        wanted: { name: 'open', params: { persona: p.id } },
      }),
    );
  const rows = [...hives, ...personas];
  if (rows.length === 0) return [{ is: 'text', key: 'nobody', label: 'Nobody is watched yet' }];
  if (rows.length <= ROWS) return rows;
  const rest = rows.slice(ROWS);
  const more: MenuEntry = {
    is: 'submenu',
    key: 'more',
    label: `${rest.length} more`,
    entries: rest,
    wanted: { name: 'open', params: {} },
  };
  return [...rows.slice(0, ROWS), more];
}

function rank(p: PersonaView): number {
  if (p.reach.is === 'down') return 0;
  if (atLeastOne(p.urgent.value)) return 1;
  return atLeastOne(p.unread.value) ? 2 : 3;
}

function newsOf(p: PersonaView, now: Instant): string {
  const unread = p.unread.value;
  const parts: string[] = [];
  if (p.reach.is === 'down') parts.push(`DOWN ${spanOf(now - p.reach.since)}`.trimEnd());
  if (atLeastOne(unread)) parts.push(`${numberOf(unread)} unread`);
  if (atLeastOne(p.urgent.value)) parts.push(`${numberOf(p.urgent.value)} urgent`);
  if (parts.length > 0) return parts.join(', ');
  if (p.reach.is === 'unseen') return 'not seen yet';
  return unread.is === 'unknown' ? 'unread unknown' : 'no unread';
}

/** Empty below a minute: then "DOWN" says all there is to say. */
function spanOf(ms: number): string {
  const minutes = Math.floor(ms / MINUTE);
  if (minutes < 1) return '';
  if (minutes < 60) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} d`;
}

function atLeastOne(count: Count): count is Exclude<Count, { is: 'unknown' }> {
  return count.is !== 'unknown' && (count.n > 0 || count.is === 'atLeast');
}

function numberOf(count: Exclude<Count, { is: 'unknown' }>): string {
  return count.is === 'exact' ? String(count.n) : `${count.n}+`;
}
