export { activityDir, activityOf, CONTINUED, noteActivity } from './activity.node.ts';
export { PASSABLE, type Passable, quietMoments, type Waiting } from './quiet.ts';
export { clearStamps, type Looked, pendingDir, type Stamped, type StampPlace, stampPending } from './stamps.node.ts';
