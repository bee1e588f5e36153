import { createPersonaAction } from './persona-action.ts';

export const command = createPersonaAction({
  name: 'unmute',
  about: ['Its notifications come again.'],
  does: 'notifications come again',
  done: (persona) => `${persona} is not muted any more`,
});
