import { displayName, displayText, formatAgentState, formatList } from '../core/format/index.ts';

/** An event in the form of the API. Its keys depend on its kind and on the token. */
export interface EventWire {
  readonly event: string;
  readonly event_id: string;
  readonly ts: string;
  readonly wake_class?: string;
  /** Whose event file has it. An alarm of a hive is about others. */
  readonly persona?: string;
  readonly id?: number;
  readonly from?: string | null;
  readonly content?: unknown;
  readonly created?: string | null;
  readonly self?: boolean;
  /** The reason of an alert, of which only `unreachable` is an outage, or of a wait. */
  readonly reason?: string;
  /** What the agent does after a wait. */
  readonly agent?: string;
  readonly subject?: unknown;
  readonly link?: unknown;
  /** What its own system calls the message. */
  readonly message?: unknown;
  readonly consecutive_failures?: number;
  readonly omitted?: number | null;
  readonly forgot?: number;
  readonly unread_not_shown?: number;
  readonly stranded_inboxes?: readonly string[];
  readonly urgent_unanswered?: readonly string[];
  readonly skipped?: number;
  readonly dropped?: number;
}

/** Whether this is an alarm about inboxes of a hive; with a `name`, whether it is about that one. */
export function isAlarmOfHive(
  { event, reason, stranded_inboxes, urgent_unanswered }: EventWire,
  name?: string,
): boolean {
  if (event !== 'alert' || (reason !== 'stranded' && reason !== 'urgent-unanswered')) return false;
  return name === undefined || [...(stranded_inboxes ?? []), ...(urgent_unanswered ?? [])].includes(name);
}

export interface EventText {
  readonly shape: 'mail' | 'down' | 'up' | 'plain';
  readonly words: string;
}

/** Describes what happened in a few words. An unknown kind is shown by its name. Pure. */
export function describeEvent(event: EventWire): EventText {
  switch (event.event) {
    case 'new':
      return { shape: 'mail', words: event.self === true ? 'Mail to itself' : 'Mail' };
    case 'handoff':
      return { shape: 'mail', words: 'Handed to it' };
    case 'assigned':
      return { shape: 'mail', words: 'Assigned' };
    case 'action':
      return { shape: 'mail', words: 'Action requested' };
    case 'question':
      return { shape: 'mail', words: 'Question' };
    case 'waiting':
      return { shape: 'plain', words: formatAgentState('waiting', event.reason ?? null, null) ?? event.event };
    case 'resumed':
      return { shape: 'plain', words: describeResumed(event.agent) };
    case 'alert':
      return describeAlert(event);
    case 'recovered':
      return { shape: 'up', words: 'Up again' };
    case 'delivered':
      return { shape: 'plain', words: `${formatMessageName(event)} was delivered` };
    case 'read':
      return { shape: 'plain', words: `${formatMessageName(event)} was read` };
    case 'gone':
      return { shape: 'plain', words: `${formatMessageName(event)} is gone` };
    case 'cleared':
      return { shape: 'plain', words: `${formatMessageName(event)} is settled` };
    case 'acked':
      return { shape: 'plain', words: `${formatMessageName(event)} was acknowledged` };
    case 'armed':
      return { shape: 'plain', words: 'Watching began' };
    case 'heartbeat':
      return { shape: 'plain', words: 'Heartbeat' };
    case 'seed_ahead':
      return { shape: 'plain', words: 'The saved position was ahead of the inbox' };
    case 'replay_capped':
      return { shape: 'plain', words: `${event.dropped ?? 'Some'} older messages were skipped` };
    case 'persona_added':
      return { shape: 'plain', words: 'Inbox found' };
    case 'baseline_skipped':
      return {
        shape: 'plain',
        words: `${formatMessageCount(event.skipped)} from before watching began were not delivered`,
      };
    case 'state_corrupt':
      return {
        shape: 'plain',
        words: 'The saved position could not be read, so the visible messages are delivered again',
      };
    default:
      return { shape: 'plain', words: event.event };
  }
}

/** Describes the end of a wait by what the agent does now. */
function describeResumed(agent: string | undefined): string {
  switch (agent) {
    case 'gone':
      return 'Ended while it waited';
    case 'waiting':
      return 'Waits for something else';
    default:
      return 'Went on';
  }
}

/** Only `unreachable` is an outage. Every other alert is an observation, and is described as no more. */
function describeAlert(event: EventWire): EventText {
  const plain = (words: string): EventText => ({ shape: 'plain', words });
  switch (event.reason) {
    case 'unreachable':
      return { shape: 'down', words: `Down after ${event.consecutive_failures ?? 'some'} failures` };
    case 'gap':
      return plain(
        `${formatMessageCount(event.omitted ?? undefined)} could not be fetched yet; delivery waits at them`,
      );
    case 'evidence-lost':
      return plain('Some delivered messages are no longer remembered and may come again');
    case 'unread-not-shown':
      return plain(`${formatMessageCount(event.unread_not_shown, 'unread ')} not listed by the hive`);
    case 'log-restarted':
      return plain('The message ids of this inbox started over, so all unread messages are delivered');
    case 'stranded':
      return plain(`No reader was ever seen for this mail: ${formatNames(event.stranded_inboxes)}`);
    case 'urgent-unanswered':
      return plain(`Urgent mail is unread, and its reader shows no activity: ${formatNames(event.urgent_unanswered)}`);
    default:
      return plain(event.reason === undefined ? 'Alert' : `Alert: ${displayText(event.reason)}`);
  }
}

function formatMessageName({ id }: EventWire): string {
  return id === undefined ? 'A message' : `Message ${id}`;
}

function formatMessageCount(n: number | undefined, kind = ''): string {
  return n === undefined ? `Some ${kind}messages` : `${n} ${kind}${n === 1 ? 'message' : 'messages'}`;
}

const NAMED = 5;

function formatNames(names: readonly string[] = []): string {
  return formatList(names.map(displayName), NAMED);
}
