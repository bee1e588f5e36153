import { createPersonaAction } from './persona-action.ts';

export const command = createPersonaAction({
  name: 'hide',
  about: ['It is watched and its event file written as ever, but tray, page, totals and notifications leave it out.'],
  does: 'out of sight',
  done: (persona) => `${persona} is hidden`,
});
