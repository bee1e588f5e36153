import { LONGEST_TEXT, PROJECT_ACTION_NAMES } from '../../core/sources/brainclaw/index.ts';
import { type Action, defineAction } from './action.ts';
import type { TrayControls } from './tray-controls.ts';

const PARAMS = {
  type: 'object',
  additionalProperties: false,
  properties: {
    project: { type: 'string', minLength: 1 },
    do: { enum: PROJECT_ACTION_NAMES },
    item: { type: 'string', minLength: 1, maxLength: 250 },
    text: { type: 'string', maxLength: LONGEST_TEXT },
    step: { type: 'string', minLength: 1, maxLength: 200 },
  },
  required: ['project', 'do', 'item'],
} as const;

/** Creates the action that changes an item of a project through brainclaw (brainclaw contract 9). */
export const createBrainclawAction = (controls: Pick<TrayControls, 'actOnProject'>): Action =>
  defineAction({
    name: 'brainclaw',
    title: 'Act on an item of a project',
    params: PARAMS,
    asks: 'token',
    run: async ({ project, text = null, step = null, ...wish }, signal) =>
      await controls.actOnProject(project, { ...wish, text, step }, signal),
  });
