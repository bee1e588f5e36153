/** An event as the API gives it; which keys there are depends on its kind and on the token. */
export interface EventWire {
  readonly event: string;
  readonly event_id: string;
  readonly ts: string;
  readonly id?: number;
  readonly from?: string;
  readonly content?: unknown;
  readonly created?: string;
  readonly self?: boolean;
  readonly consecutive_failures?: number;
  readonly dropped?: number;
}

export interface Told {
  readonly look: 'mail' | 'down' | 'up' | 'plain';
  readonly words: string;
}

/** What happened, in a few words; a kind that is not known by its name. Pure. */
export function toldOf(event: EventWire): Told {
  switch (event.event) {
    case 'new':
      return { look: 'mail', words: event.self === true ? 'Mail to itself' : 'Mail' };
    case 'alert':
      return { look: 'down', words: `Down after ${event.consecutive_failures ?? 'some'} failures` };
    case 'recovered':
      return { look: 'up', words: 'Up again' };
    case 'armed':
      return { look: 'plain', words: 'Watching began' };
    case 'heartbeat':
      return { look: 'plain', words: 'Heartbeat' };
    case 'seed_ahead':
      return { look: 'plain', words: 'The kept position was ahead of the inbox' };
    case 'replay_capped':
      return { look: 'plain', words: `${event.dropped ?? 'Some'} older messages left out` };
    case 'persona_added':
      return { look: 'plain', words: 'Inbox found' };
    default:
      return { look: 'plain', words: event.event };
  }
}

const CONTROL = /[^\P{Cc}\n\t]/gu;

/** Text with its control characters made visible, so that none hides what it says; line breaks and tabs stay. */
export function visible(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(CONTROL, (c) => (c < ' ' ? String.fromCharCode(0x2400 + c.charCodeAt(0)) : '\ufffd'));
}
