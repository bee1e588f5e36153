export {
  createExecSink,
  type ExecSinkOptions,
  refuseShellCommand,
  toExecEnv,
  tryEachOnce,
} from './exec.ts';
export {
  createFileSink,
  createRotatingFile,
  type FileSinkOptions,
  type RotatingFile,
  type RotatingFileOptions,
} from './file.ts';
export { type Ack, EMPTY_TAIL, type LostEvents, type Sink, type Tail } from './sink.ts';
export { createStdoutSink, type StdoutSinkOptions } from './stdout.node.ts';
