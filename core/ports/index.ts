export { findLoadedKoffi, loadKoffi, realClock, realClocks, startTimer } from './clock.node.ts';
export { O, pause, realFiles, renameAsync, repeatPatiently } from './files.node.ts';
export { type Files, type OpenFlags, type Stat, writeAll } from './files.ts';
export {
  type ChildCommand,
  type Clock,
  type ClockReading,
  type Clocks,
  findProgramWith,
  type Invocation,
  type Log,
  type ProcessEnd,
  type Random,
  readVariable,
  runByCmd,
  type Spawn,
  silentLog,
  type Tick,
  toInvocation,
  toSystem32Path,
  type Variables,
} from './ports.ts';
export { plainRandom, realRandom } from './random.node.ts';
export { findProgram, isProgram, killTree, realSpawn, resolveProgram } from './spawn.node.ts';
