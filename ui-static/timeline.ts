import type { PersonaWire } from '../app/status/wire.ts';
import { displayText } from '../core/format/index.ts';
import { getPart } from './dom.ts';
import { createElement } from './element.ts';
import { describeEvent, type EventWire, isAlarmOfHive } from './events.ts';
import { drawTime } from './mail-row.ts';
import { truncate } from './present.ts';
import { ask, TokenNeededError } from './token.ts';

/** What happened to an inbox beside its mail: outages, waits of its agent, alarms about it. */
export interface InboxTimeline extends Disposable {
  /** `findSource` returns the source of a persona, by its id. */
  draw(persona: PersonaWire, findSource: (id: string) => string | null): void;
  again(): void;
}

const EVENTS = 60;
const SHOWN = 20;
const TIMEOUT_MS = 5000;
const TEXT_CHARS = 200;

export function startTimeline(body: HTMLElement, fragment: string): InboxTimeline {
  const list = getPart(body, '#events');
  const words = getPart(body, '#events-words');
  const hold = new AbortController();
  let last: string | null | undefined;
  let drawn: readonly [PersonaWire, (id: string) => string | null] | null = null;
  let requestCount = 0;

  const askEvents = async (path: string): Promise<readonly EventWire[]> => {
    const signal = AbortSignal.any([hold.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const answer = await ask(`/api/v1/${path}events?limit=${EVENTS}`, signal);
    return ((await answer.json()) as { events: readonly EventWire[] }).events;
  };
  const load = async (persona: PersonaWire, findSource: (id: string) => string | null): Promise<void> => {
    requestCount += 1;
    const mine = requestCount;
    try {
      const [own, all] = await Promise.all([askEvents(`personas/${fragment}/`), askEvents('')]);
      if (mine !== requestCount) return; // something newer was requested in the meantime
      // An alarm of a hive is delivered to somebody who reads, and is about others. It belongs to those.
      const about = all.filter(
        (event) => isAlarmOfHive(event, persona.label) && findSource(event.persona ?? '') === persona.source,
      );
      const events = [...own.filter((event) => event.wake_class !== 'mail' && !isAlarmOfHive(event)), ...about];
      events.sort((a, b) => (a.ts < b.ts ? 1 : -1));
      words.textContent = events.length === 0 ? 'Nothing happened yet.' : '';
      list.replaceChildren(...events.slice(0, SHOWN).map(createEventItem));
    } catch (error) {
      if (hold.signal.aborted) return;
      if (error instanceof TokenNeededError) last = undefined; // the refused token is dropped: asked again without it
      words.textContent = `Could not be loaded: ${error instanceof Error ? error.message : String(error)}`;
    }
  };
  return {
    draw(persona, findSource) {
      drawn = [persona, findSource];
      if (last !== persona.lastEventId) void load(persona, findSource);
      last = persona.lastEventId;
    },
    again: () => {
      if (drawn !== null) void load(...drawn);
    },
    [Symbol.dispose]: () => hold.abort(),
  };
}

function createEventItem(event: EventWire): HTMLElement {
  const { shape, words } = describeEvent(event);
  const time = createElement('time');
  drawTime(time, event.ts);
  return createElement(
    'li',
    { 'data-look': shape },
    createElement('span', {}, truncate(displayText(words), TEXT_CHARS)),
    time,
  );
}
