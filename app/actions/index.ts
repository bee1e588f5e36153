export { keptMutes, type Mutes } from './mutes.node.ts';
export type { Action, Actions } from './action.ts';
export { createActions } from './actions.ts';
export type { House } from './house.ts';
