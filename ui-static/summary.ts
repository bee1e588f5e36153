import type { CauseWire, StatusWire } from '../app/status/wire.ts';
import {
  countAsked,
  displayText,
  formatAsked,
  formatClockTime,
  formatDuration,
  formatList,
  formatNeeds,
  formatSilence,
} from '../core/format/index.ts';
import { formatName, formatNumber, REASON_CHARS, type Slots, truncate } from './present.ts';

/** Puts the whole status into words: the headline, the health beside it, and what is wrong. Pure, and used on both sides, as `present.ts`. */

export interface Summary {
  readonly shape: 'up' | 'down' | 'empty' | 'closed';
  readonly title: string;
  readonly slots: Slots;
}

/** The summary without the token. It shows nothing of what is watched. */
export const CLOSED: Summary = {
  shape: 'closed',
  title: 'Hivebar',
  slots: {
    ...{ sentence: 'Enter the token to see the inboxes', note: null, paused: null },
    ...{ health: null, healthWords: null, version: 'Hivebar', link: 'Token needed' },
  },
};

/** The headline says what is asked of the person. Whether inboxes can be read stands beside it, and in the causes. */
export function toSummary(status: StatusWire): Summary {
  const { totals, causes, version, notifications, personas, generatedAt } = status;
  const stalled = personas.filter(({ agent, hidden }) => !hidden && agent === 'stalled').length;
  const counts = countAsked(status);
  const asked = formatAsked(counts);
  const badge = (totals.unread ?? 0) > 0 ? `(${formatNumber(totals.unread, totals.unreadIs)}) ` : '';
  const down = totals.down > 0 ? [`${totals.down} down`] : [];
  const isEmpty = totals.personas === 0;
  return {
    shape: totals.down > 0 || causes.length > 0 ? 'down' : isEmpty ? 'empty' : 'up',
    title: `${[...down, ...(asked === null ? [] : [asked]), ''].join(', ')}${badge}Hivebar`,
    slots: {
      sentence: joinNumbers(
        isEmpty
          ? describeEmpty(personas.length, causes.length)
          : asked === null && isUnchecked(totals)
            ? 'Checking for the first time'
            : formatNeeds({ ...counts, ...totals }),
      ),
      note: stalled > 0 ? formatStalled(stalled, totals.personas) : null,
      paused: notifications.pausedUntil === null ? null : formatPaused(notifications.pausedUntil, generatedAt),
      ...describeHealth(totals, causes.length),
      version: `Hivebar ${version}`,
    },
  };
}

/**
 * The summary while the server does not answer.
 * @param asOf when the last status was written; null when none was received
 */
export function toLostSummary(asOf: string | null, now: number): Pick<Summary, 'title' | 'slots'> {
  return {
    title: 'Not connected · Hivebar',
    slots: {
      sentence: 'Not connected: Hivebar does not answer',
      note:
        asOf === null ? null : `Last update ${formatClockTime(Date.parse(asOf), now)}. What is below may have changed.`,
      paused: null,
      health: null,
      healthWords: null,
    },
  };
}

/** Keeps each number on the line of what it counts, where the headline is broken. */
function joinNumbers(text: string): string {
  return text.replace(/(\d\+?) /g, '$1\u00a0');
}

function describeEmpty(hidden: number, causes: number): string {
  if (causes > 0) return hidden > 0 ? 'Something is wrong' : 'No inbox can be watched';
  return hidden > 0 ? 'All inboxes are hidden' : 'No inbox is watched yet';
}

function isUnchecked({ up, down, unread, unreadIs }: StatusWire['totals']): boolean {
  return up + down === 0 && unreadIs !== 'exact' && (unread ?? 0) === 0;
}

/** Formats the health: `3/4 reachable`, and the same in words. */
function describeHealth({ personas, up, down }: StatusWire['totals'], causes: number): Slots {
  const problems = causes === 1 ? '1 problem' : `${causes} problems`;
  const isOther = down === 0 && causes > 0;
  if (personas === 0) return { health: isOther ? problems : null, healthWords: isOther ? problems : null };
  const pending = personas - up - down;
  const parts = [
    `${up} of ${personas} ${personas === 1 ? 'inbox' : 'inboxes'} can be read`,
    ...(down > 0 ? [`${down} cannot`] : []),
    ...(pending > 0 ? [`${pending} not checked yet`] : []),
    ...(isOther ? [problems] : []),
  ];
  return { health: `${up}/${personas} reachable${isOther ? `, ${problems}` : ''}`, healthWords: parts.join(', ') };
}

function formatStalled(stalled: number, personas: number): string {
  return `Nobody takes the mail of ${stalled} of ${personas} ${personas === 1 ? 'inbox' : 'inboxes'}`;
}

function formatPaused(until: string, now: string): string {
  return formatSilence('Notifications paused', until === 'forever' ? null : Date.parse(until), Date.parse(now));
}

/** The names of this many hives or inboxes stand above what is wrong with them. */
const NAMED = 3;

/** Describes what is wrong, each text once, with the hives or the inboxes that it concerns. */
export function toCauses({ causes, personas }: Pick<StatusWire, 'causes' | 'personas'>, now: number): readonly Slots[] {
  const byId = new Map(personas.map((persona) => [persona.id, persona]));
  return [...Map.groupBy(causes, ({ message }) => message)].map(([message, same]) => {
    const names = [...new Set(same.flatMap((cause) => listConcerned(cause, byId)))];
    const since = same.map((cause) => cause.since).sort()[0] ?? '';
    return {
      causeTitle: names.length === 0 ? 'This machine' : formatList(names.map(formatName), NAMED),
      causeSince: `for ${formatDuration(now - Date.parse(since))}`,
      causeText: truncate(displayText(message), REASON_CHARS),
    };
  });
}

/** Names the hives that are concerned, or the personas when it is an outage of single ones. */
function listConcerned(
  { scope, key, personas }: CauseWire,
  byId: ReadonlyMap<string, StatusWire['personas'][number]>,
): readonly string[] {
  const concerned = personas.flatMap((id) => byId.get(id) ?? []);
  if (scope !== 'source') return concerned.map(({ label }) => label);
  return concerned.length === 0 ? [key] : concerned.map(({ source }) => source);
}
