export { realClock } from './clock.node.ts';
export type { Clock } from './clock.ts';
export { O, realFiles } from './files.node.ts';
export type { Files, OpenFlags, Stat } from './files.ts';
export { type Log, silentLog } from './log.ts';
export { realRandom } from './random.node.ts';
export type { Random } from './random.ts';
export { realSpawn } from './spawn.node.ts';
export type { Command, Ended, Spawn } from './spawn.ts';
