import { Type } from 'typebox';
import { Fault } from '../../core/model/index.ts';
import type { Clock } from '../../core/ports/index.ts';
import { type Action, type Actions, action } from './action.ts';
import type { House } from './house.ts';

const Nothing = Type.Object({}, { additionalProperties: false });
const Who = Type.Object({ persona: Type.Optional(Type.String()) }, { additionalProperties: false });

/** The table of everything a person or script may do. Menu, banner, route and CLI all come here. */
export function createActions(house: House, clock: Clock): Actions {
  const table: Action[] = [
    action({
      name: 'poll',
      title: 'Poll now',
      params: Who,
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
      params: Nothing,
      asks: 'token',
      run: async () => {
        house.hiveChanged();
        return {};
      },
    }),
    action({
      name: 'pause',
      title: 'Pause notifications',
      params: Type.Object(
        { minutes: Type.Optional(Type.Number({ exclusiveMinimum: 0 })) },
        { additionalProperties: false },
      ),
      asks: 'token',
      run: async ({ minutes }) => {
        house.pause(minutes === undefined ? { is: 'forever' } : { is: 'at', at: clock.now() + minutes * 60_000 });
        return { paused: minutes ?? 'until resumed' };
      },
    }),
    action({
      name: 'resume',
      title: 'Resume notifications',
      params: Nothing,
      asks: 'token',
      run: async () => {
        house.pause({ is: 'never' });
        return { paused: false };
      },
    }),
    action({
      name: 'open',
      title: 'Open status page',
      params: Type.Object(
        { persona: Type.Optional(Type.String()), activationToken: Type.Optional(Type.String()) },
        { additionalProperties: false },
      ),
      asks: 'token',
      run: async ({ persona, activationToken }) => {
        await house.openPage(persona ?? null, activationToken ?? null);
        return {};
      },
    }),
    action({
      name: 'quit',
      title: 'Quit',
      params: Nothing,
      asks: 'token',
      run: async () => {
        house.quit();
        return {};
      },
    }),
  ];
  return new Map(table.map((entry) => [entry.name, entry]));
}
