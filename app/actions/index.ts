export type { Action, Actions } from './action.ts';
export { createActions } from './actions.ts';
export type { House } from './house.ts';
export { type Hours, hoursAt } from './local-time.node.ts';
export { keptPreferences, type Preferences } from './preferences.node.ts';
