import { displayLine, formatDuration } from '../../core/format/index.ts';
import type { MessageWire } from '../status/index.ts';
import { parseTime } from './status-json.ts';
import { askTray } from './tray-request.node.ts';

/** The newest message of each persona that has one, by the id of the persona. */
export type NewestMessages = Readonly<Record<string, MessageWire>>;

/** Fetches the newest messages from the running program. Empty when it does not answer: what else is shown does not depend on them. */
export async function fetchNewest(env: Readonly<Record<string, string | undefined>>): Promise<NewestMessages> {
  try {
    const response = await askTray({ method: 'GET', path: '/api/v1/newest', body: null }, env);
    if (response.is !== 'answered' || response.status !== 200) return {};
    return (JSON.parse(response.body) as { readonly newest: NewestMessages }).newest;
  } catch {
    return {}; // the request for the status, which goes to the same socket, reports what is wrong
  }
}

/** Formats sender and first line of a message, which are text of others: `bo: main is red`. */
export function formatPreview({ from, subject, text }: MessageWire): string {
  const line = displayLine(subject === '' ? text : subject);
  return from === '' ? line : `${displayLine(from)}: ${line}`;
}

/** Formats how long ago a message was written; empty when the source does not say. */
export function formatMessageAge({ at }: MessageWire, now: string): string {
  return at === null ? '' : formatDuration(parseTime(now) - parseTime(at));
}
