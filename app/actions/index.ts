export type { Action, Actions } from './action.ts';
export { createActions } from './actions.ts';
export type { House } from './house.ts';
export { keptMutes, type Mutes } from './mutes.node.ts';
