export { activityDir, activityOf, CONTINUED, noteActivity } from './activity.node.ts';
export { type Inboxes, inboxesOf } from './inboxes.node.ts';
export type { Installer, Looked as HookLooked, Reach as HookReach } from './install.ts';
export { type StamperNeeds, stamper } from './keep-stamp.ts';
export { hookInstaller } from './own.node.ts';
export { PASSABLE, type Passable, quietMoments, type Waiting } from './quiet.ts';
export { HARNESSES, type HarnessName, RECIPES } from './recipe.ts';
export { BACKUP } from './settings-file.node.ts';
export { type Looked, type Stamped, type StampPlace, stampPending } from './stamps.node.ts';
