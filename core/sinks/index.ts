export { createExecSink, type ExecSinkOptions, refuseShellCommand } from './exec.ts';
export { toExecEnv } from './exec-env.ts';
export { createFileSink, type FileSinkOptions } from './file.ts';
export { createRotatingFile, type RotatingFile, type RotatingFileOptions } from './rotating-file.ts';
export { type Ack, EMPTY_TAIL, type LostEvents, type Sink, type Tail } from './sink.ts';
export { createStdoutSink, type StdoutSinkOptions } from './stdout.node.ts';
export { createTroubleLog, type TroubleLog } from './trouble-log.ts';
export { tryEachOnce } from './try-each-once.ts';
