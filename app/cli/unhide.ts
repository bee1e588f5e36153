import { createPersonaAction } from './persona-action.ts';

export const command = createPersonaAction({
  name: 'unhide',
  about: ['Tray, page, totals and notifications show it again.'],
  does: 'in sight again',
  done: (persona) => `${persona} is shown again`,
});
