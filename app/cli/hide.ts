import { createPersonaAction } from './persona-action.ts';

export const command = createPersonaAction({
  name: 'hide',
  about: [
    'It is still watched and its event file is still written, but tray, page, totals and notifications leave it out.',
  ],
  does: 'out of sight',
  done: (persona) => `${persona} is hidden`,
});
