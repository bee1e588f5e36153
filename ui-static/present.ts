import type { PersonaWire, StatusWire } from '../app/status/wire.ts';

/**
 * How the page puts a status into words. Pure, and used on both sides: the server writes the first page with it, the
 * script keeps that page up to date with it, so both say the same.
 */

/** What every element marked `data-slot` shows, by slot. Null hides the element. */
export type Slots = Readonly<Record<string, string | null>>;

export interface Card {
  readonly id: string;
  /** Decides shape and colour. */
  readonly look: 'up' | 'failing' | 'down' | 'pending' | 'off';
  /** Words for the style sheet: `unread`, `urgent`, `stale`, `muted`. */
  readonly flags: string;
  readonly slots: Slots;
}

const WORDS = { up: 'Up', failing: 'Up, failing', down: 'Down', pending: 'Not seen yet', off: 'Paused' } as const;

/** `manySources`: then the card says where its inbox lives. */
export function cardOf(persona: PersonaWire, now: number, manySources: boolean): Card {
  const look = lookOf(persona);
  const stale = persona.staleAfter !== null && Date.parse(persona.staleAfter) < now;
  const command = persona.eventsFile === null ? null : followCommand(persona.eventsFile);
  return {
    id: persona.id,
    look,
    flags: Object.entries({
      unread: (persona.unread ?? 0) > 0,
      urgent: (persona.urgent ?? 0) > 0,
      stale,
      muted: persona.muted !== null,
    })
      .flatMap(([name, is]) => (is ? [name] : []))
      .join(' '),
    slots: {
      name: persona.label,
      id: persona.label === persona.id ? null : persona.id,
      source: manySources ? `· ${persona.source}` : null,
      state: WORDS[look],
      since: persona.since === null || look === 'pending' ? null : `for ${spanOf(now - Date.parse(persona.since))}`,
      unread: numberOf(persona.unread, persona.unreadIs),
      unreadWord: 'unread',
      urgent: (persona.urgent ?? 0) > 0 ? `${persona.urgent} urgent` : null,
      muted: persona.muted === null ? null : 'Muted',
      agent: persona.agent === 'gone' || persona.agent === 'stalled' ? `Agent ${persona.agent}` : null,
      reason: persona.reason,
      mail:
        persona.lastMailAt === null ? 'No mail told yet' : `Last mail ${agoOf(now - Date.parse(persona.lastMailAt))}`,
      fresh: freshOf(persona, now, stale),
      command,
    },
  };
}

function lookOf({ state, reason, asOf }: PersonaWire): Card['look'] {
  switch (state) {
    case 'UP':
      return reason === null ? 'up' : asOf === null ? 'pending' : 'failing';
    case 'DOWN':
      return 'down';
    case 'PENDING':
      return 'pending';
    case 'OFF':
      return 'off';
  }
}

function freshOf({ asOf }: PersonaWire, now: number, stale: boolean): string {
  if (asOf === null) return 'never seen';
  const ago = agoOf(now - Date.parse(asOf));
  return stale ? `seen ${ago}, old` : `seen ${ago}`;
}

/** Down first, then urgent, then unread, then by name: what needs a person stands where the eye lands. */
export function inOrder(personas: readonly PersonaWire[]): PersonaWire[] {
  const rank = (p: PersonaWire): number =>
    p.state === 'DOWN' ? 0 : (p.urgent ?? 0) > 0 ? 1 : (p.unread ?? 0) > 0 ? 2 : 3;
  const byName = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
  return [...personas].sort((a, b) => rank(a) - rank(b) || byName(a.label, b.label) || byName(a.id, b.id));
}

export function hasManySources({ personas }: StatusWire): boolean {
  return personas.some((persona) => persona.source !== personas[0]?.source);
}

export interface Summary {
  readonly look: 'up' | 'down' | 'empty' | 'closed';
  readonly title: string;
  readonly slots: Slots;
}

/** What stands there until the token is given: nothing of what is watched. */
export const CLOSED: Summary = {
  look: 'closed',
  title: 'Hivebar',
  slots: {
    totalUnread: '–',
    totalUrgent: '–',
    totalUp: '–',
    totalDown: '–',
    totalPending: null,
    sentence: 'Nothing is shown without the token',
    paused: null,
    version: 'Hivebar',
    link: 'The token is needed',
  },
};

export function summaryOf({ totals, causes, version, notifications }: StatusWire): Summary {
  const unread = numberOf(totals.unread, totals.unreadIs);
  const pending = totals.personas - totals.up - totals.down;
  const trouble = totals.down > 0 || causes.length > 0;
  const badge = (totals.unread ?? 0) > 0 ? `(${unread}) ` : '';
  return {
    look: trouble ? 'down' : totals.personas === 0 ? 'empty' : 'up',
    title: `${totals.down > 0 ? `${totals.down} down, ` : ''}${badge}Hivebar`,
    slots: {
      totalUnread: unread,
      totalUrgent: totals.urgent === null ? '–' : String(totals.urgent),
      totalUp: String(totals.up),
      totalDown: String(totals.down),
      totalPending: pending > 0 ? `${pending} not seen yet` : null,
      sentence: sentenceOf(totals, pending, causes.length),
      paused: notifications.pausedUntil === null ? null : pausedText(notifications.pausedUntil),
      version: `Hivebar ${version}`,
    },
  };
}

function sentenceOf({ personas, down }: StatusWire['totals'], pending: number, causes: number): string {
  if (personas === 0) return causes > 0 ? 'Nobody can be watched now' : 'Nobody is watched yet';
  const all = personas === 1 ? 'The one inbox' : `All ${personas} inboxes`;
  if (down === 0 && causes > 0) return 'Something needs attention';
  if (down === 0) return pending === personas ? 'Looking for the first time' : `${all} can be read`;
  return down === personas ? `${all} ${personas === 1 ? 'is' : 'are'} down` : `${down} of ${personas} inboxes down`;
}

function pausedText(until: string): string {
  return until === 'forever'
    ? 'Notifications paused'
    : `Notifications paused until ${until.slice(0, 16).replace('T', ' ')} UTC`;
}

/** A cause as the banner shows it. */
export function causeOf(cause: StatusWire['causes'][number], now: number): Slots {
  const [first, ...others] = cause.personas;
  return {
    causeTitle:
      first === undefined ? 'A whole source' : others.length === 0 ? first : `${cause.personas.length} inboxes`,
    causeSince: `for ${spanOf(now - Date.parse(cause.since))}`,
    causeText: cause.message,
  };
}

/** A number that is not known is a dash, never 0. */
export function numberOf(n: number | null, is: PersonaWire['unreadIs']): string {
  if (n === null || is === 'unknown') return '–';
  return is === 'atLeast' ? `${n}+` : String(n);
}

/** How an agent follows its file; the path as one word of a POSIX shell. */
export function followCommand(path: string): string {
  const word = /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
  return `tail -n 0 -F ${word}`;
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
] as const;

export function spanOf(ms: number): string {
  for (const [size, name] of UNITS) if (ms >= size) return `${Math.floor(ms / size)} ${name}`;
  return '0 s';
}

export function agoOf(ms: number): string {
  return ms < 1000 ? 'just now' : `${spanOf(ms)} ago`;
}
