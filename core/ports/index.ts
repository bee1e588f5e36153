export { realClock, startTimer } from './clock.node.ts';
export { findLoadedKoffi, loadKoffi, realClocks } from './clocks.node.ts';
export { O, pause, realFiles, renameAsync, repeatPatiently } from './files.node.ts';
export type { Files, OpenFlags, Stat } from './files.ts';
export { type Clock, type ClockReading, type Clocks, type Log, type Random, silentLog, type Tick } from './ports.ts';
export {
  type ChildCommand,
  findProgramWith,
  type Invocation,
  type ProcessEnd,
  readVariable,
  runByCmd,
  type Spawn,
  toInvocation,
  toSystem32Path,
  type Variables,
} from './programs.ts';
export { plainRandom, realRandom } from './random.node.ts';
export { findProgram, isProgram, killTree, realSpawn, resolveProgram } from './spawn.node.ts';
