export { tryEachOnce } from './each-once.ts';
export { createExecSink, type ExecSinkOptions, refuseShellCommand } from './exec.ts';
export { execEnv } from './exec-env.ts';
export { createFileSink, type FileSinkOptions } from './file.ts';
export { createRotatingFile, type RotatingFile, type RotatingFileOptions } from './rotating-file.ts';
export { EMPTY_TAIL, type Lost, type Sink, type Tail, type Taken } from './sink.ts';
export { createStdoutSink, type StdoutSinkOptions } from './stdout.node.ts';
export { createTrouble, type Trouble } from './trouble.ts';
