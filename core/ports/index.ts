export type { Clock } from './clock.ts';
export { realClock } from './clock.node.ts';
export type { Files, OpenFlags, Stat } from './files.ts';
export { O, realFiles } from './files.node.ts';
export { type Log, silentLog } from './log.ts';
export type { Random } from './random.ts';
export { realRandom } from './random.node.ts';
export type { Command, Ended, Spawn } from './spawn.ts';
export { realSpawn } from './spawn.node.ts';
