import type { Until } from '../../core/board/index.ts';
import { decisionJson, LIMITS, replyOf } from '../../core/inbox/decisions/index.ts';
import { Fault, isoOf } from '../../core/model/index.ts';
import type { Clock } from '../../core/ports/index.ts';
import { type Action, type Actions, action } from './action.ts';
import { brainclawAction } from './brainclaw.ts';
import type { House } from './house.ts';
import { instantOf, tomorrowMorning } from './local-time.node.ts';

/** A hundred years: beyond it nobody waits. */
const MOST_MINUTES = 52_560_000;

const closed = { type: 'object', additionalProperties: false } as const;
const PERSONA = { type: 'string', minLength: 1 } as const;
const MESSAGE = { type: 'integer', minimum: 1 } as const;
const NOTHING = { ...closed, properties: {} } as const;
const WHO = { ...closed, properties: { persona: PERSONA }, required: ['persona'] } as const;
const ANYONE = { ...closed, properties: { persona: PERSONA } } as const;
const SWITCH = { ...closed, properties: { on: { type: 'boolean' } }, required: ['on'] } as const;
const OPENS = { ...closed, properties: { persona: PERSONA, activationToken: { type: 'string' } } } as const;

/** Whoever has the token and gives no name. */
const OPERATOR = 'operator';

/** An option, text, or both; text alone is guidance unless the decision takes text, or it is accepted. */
const ANSWER = {
  ...closed,
  properties: {
    decision: { type: 'integer', minimum: 1 },
    select: { type: 'string', minLength: 1 },
    text: { type: 'string', maxLength: LIMITS.text },
    acceptGuidance: { type: 'boolean' },
  },
  required: ['decision'],
} as const;

/** For how long: `minutes`, or `until` tomorrow morning or an instant; neither: for ever. */
const SPAN = {
  minutes: { type: 'number', exclusiveMinimum: 0, maximum: MOST_MINUTES },
  until: { type: 'string', pattern: '^(tomorrow|\\d{4}-\\d\\d-\\d\\dT[\\d:.]+(Z|[+-]\\d\\d:\\d\\d))$' },
} as const;

type Span = { readonly minutes?: number; readonly until?: string };

/** The table of everything a person or script may do. Menu, banner, route and CLI all come here. */
export function createActions(house: House, clock: Clock): Actions {
  const known = (persona: string): string => {
    if (house.knows(persona)) return persona;
    throw refusal(`persona ${JSON.stringify(persona)} is not watched`);
  };
  const untilOf = ({ minutes, until }: Span): Until => {
    if (minutes !== undefined && until !== undefined) throw refusal('give minutes or until, not both');
    if (minutes !== undefined) return { is: 'at', at: clock.now() + minutes * 60_000 };
    if (until === undefined) return { is: 'forever' };
    const at = until === 'tomorrow' ? tomorrowMorning(clock.now()) : instantOf(until);
    if (at === null) throw refusal(`until ${JSON.stringify(until)} is no instant`);
    if (at <= clock.now()) throw refusal(`until ${JSON.stringify(until)} is over`);
    return { is: 'at', at };
  };
  const silence = (persona: string | null, span: Span) => {
    const until = untilOf(span);
    house.mute(persona, until);
    return { until: until.is === 'at' ? isoOf(until.at) : until.is };
  };
  const table: Action[] = [
    action({
      name: 'poll',
      title: 'Poll now',
      params: ANYONE,
      asks: 'token',
      run: async ({ persona }) => {
        if (!house.poll(persona ?? null)) known(persona ?? '');
        return { polled: persona ?? 'all' };
      },
    }),
    action({
      name: 'hive-changed',
      title: 'Look for mail that another process wrote',
      params: NOTHING,
      asks: 'token',
      run: async () => {
        house.hiveChanged();
        return {};
      },
    }),
    action({
      name: 'pause',
      title: 'Pause notifications',
      params: { ...closed, properties: SPAN },
      asks: 'token',
      run: async (span) => silence(null, span),
    }),
    action({
      name: 'resume',
      title: 'Resume notifications',
      params: NOTHING,
      asks: 'token',
      run: async () => {
        house.mute(null, { is: 'never' });
        return {};
      },
    }),
    action({
      name: 'mute',
      title: 'Mute',
      params: { ...closed, properties: { persona: PERSONA, ...SPAN }, required: ['persona'] },
      asks: 'token',
      run: async ({ persona, ...span }) => ({ persona, ...silence(known(persona), span) }),
    }),
    action({
      name: 'unmute',
      title: 'Unmute',
      params: WHO,
      asks: 'token',
      run: async ({ persona }) => {
        house.mute(known(persona), { is: 'never' });
        return { persona };
      },
    }),
    action({
      name: 'hide',
      title: 'Hide',
      params: WHO,
      asks: 'token',
      run: async ({ persona }) => {
        house.hide(known(persona), true);
        return { persona };
      },
    }),
    action({
      name: 'unhide',
      title: 'Show again',
      params: WHO,
      asks: 'token',
      run: async ({ persona }) => {
        house.hide(known(persona), false);
        return { persona };
      },
    }),
    action({
      name: 'read',
      title: 'Mark as read',
      params: {
        ...closed,
        properties: { persona: PERSONA, id: MESSAGE, upTo: MESSAGE },
        required: ['persona'],
      },
      asks: 'token',
      run: async ({ persona, id, upTo }) => {
        if (id !== undefined && upTo !== undefined) throw refusal('give id or upTo, not both');
        const which = id !== undefined ? [id] : upTo !== undefined ? { upTo } : 'all';
        return { persona, marked: house.markRead(known(persona), which) };
      },
    }),
    action({
      name: 'decide',
      title: 'Answer a decision',
      params: ANSWER,
      asks: 'token',
      run: async ({ decision: id, ...answer }) => {
        const done = house.decide(id, replyOf({ ...answer, by: OPERATOR }));
        if (done.is === 'none') throw refusal(`there is no decision ${id}`);
        return { accepted: done.is === 'done', decision: decisionJson(done.decision) };
      },
    }),
    brainclawAction(house),
    action({
      name: 'open',
      title: 'Open session',
      params: OPENS,
      asks: 'token',
      run: async ({ persona, activationToken = null }) => {
        if (persona === undefined) return { opened: await house.openPage(null, activationToken) };
        return { opened: await house.openSession(known(persona), activationToken) };
      },
    }),
    action({
      name: 'page',
      title: 'Open status page',
      params: OPENS,
      asks: 'token',
      run: async ({ persona, activationToken = null }) => {
        return { opened: await house.openPage(persona === undefined ? null : known(persona), activationToken) };
      },
    }),
    action({
      name: 'link',
      title: 'Give a one-time link to the status page',
      params: ANYONE,
      asks: 'token',
      run: async ({ persona }) => ({ url: house.pageLink(persona === undefined ? null : known(persona)) }),
    }),
    action({
      name: 'copy-follow',
      title: 'Copy follow command',
      params: WHO,
      asks: 'token',
      run: async ({ persona }) => {
        await house.copyFollowCommand(known(persona));
        return {};
      },
    }),
    action({
      name: 'quiet-hours',
      title: 'Quiet hours',
      params: SWITCH,
      asks: 'token',
      run: async ({ on }) => {
        house.quietHours(on);
        return { on };
      },
    }),
    action({
      name: 'autostart',
      title: 'Start at login',
      params: SWITCH,
      asks: 'token',
      run: async ({ on }) => {
        await house.startAtLogin(on);
        return { on };
      },
    }),
    action({
      name: 'notify-test',
      title: 'Show a test notification',
      params: NOTHING,
      asks: 'token',
      run: async () => await house.testNotification(),
    }),
    action({
      name: 'quit',
      title: 'Quit',
      params: NOTHING,
      asks: 'token',
      run: async () => {
        house.quit();
        return {};
      },
    }),
  ];
  return new Map(table.map((entry) => [entry.name, entry]));
}

function refusal(what: string): Fault {
  return new Fault('usage', what, { is: 'machine', key: 'action' });
}
