import { DEED_NAMES, LONGEST_TEXT } from '../../core/sources/brainclaw/index.ts';
import { type Action, action } from './action.ts';
import type { House } from './house.ts';

const PARAMS = {
  type: 'object',
  additionalProperties: false,
  properties: {
    project: { type: 'string', minLength: 1 },
    do: { enum: DEED_NAMES },
    item: { type: 'string', minLength: 1, maxLength: 250 },
    text: { type: 'string', maxLength: LONGEST_TEXT },
    step: { type: 'string', minLength: 1, maxLength: 200 },
  },
  required: ['project', 'do', 'item'],
} as const;

/** Acts on an item of a project, by brainclaw (brainclaw contract 9). */
export const brainclawAction = (house: Pick<House, 'actOnProject'>): Action =>
  action({
    name: 'brainclaw',
    title: 'Act on an item of a project',
    params: PARAMS,
    asks: 'token',
    run: async ({ project, text = null, step = null, ...wish }, signal) =>
      await house.actOnProject(project, { ...wish, text, step }, signal),
  });
