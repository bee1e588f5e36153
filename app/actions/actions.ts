import { Fault } from '../../core/model/index.ts';
import type { Clock } from '../../core/ports/index.ts';
import { type Action, type Actions, action } from './action.ts';
import type { House } from './house.ts';

const NOTHING = { type: 'object', properties: {}, additionalProperties: false } as const;
const WHO = { type: 'object', properties: { persona: { type: 'string' } }, additionalProperties: false } as const;

/** The table of everything a person or script may do. Menu, banner, route and CLI all come here. */
export function createActions(house: House, clock: Clock): Actions {
  const table: Action[] = [
    action({
      name: 'poll',
      title: 'Poll now',
      params: WHO,
      asks: 'token',
      run: async ({ persona }) => {
        if (!house.poll(persona ?? null))
          throw new Fault('usage', `persona ${JSON.stringify(persona)} is not watched`, {
            is: 'machine',
            key: 'action',
          });
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
      params: {
        type: 'object',
        properties: { minutes: { type: 'number', exclusiveMinimum: 0 } },
        additionalProperties: false,
      },
      asks: 'token',
      run: async ({ minutes }) => {
        house.pause(minutes === undefined ? { is: 'forever' } : { is: 'at', at: clock.now() + minutes * 60_000 });
        return { paused: minutes ?? 'until resumed' };
      },
    }),
    action({
      name: 'resume',
      title: 'Resume notifications',
      params: NOTHING,
      asks: 'token',
      run: async () => {
        house.pause({ is: 'never' });
        return { paused: false };
      },
    }),
    action({
      name: 'open',
      title: 'Open status page',
      params: {
        type: 'object',
        properties: { persona: { type: 'string' }, activationToken: { type: 'string' } },
        additionalProperties: false,
      },
      asks: 'token',
      run: async ({ persona, activationToken }) => {
        await house.openPage(persona ?? null, activationToken ?? null);
        return {};
      },
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
