export type { Upstream } from './calls.ts';
export { classOf } from './errors.ts';
export { labelsOf, labelValue } from './labels.ts';
export { type DaemonLog, openDaemonLog } from './log/index.ts';
export { atStart, dueMono, step, withoutIndex } from './machine.ts';
export type { Effect, Errors, Happening, Input, MachineState, Now, Output, Rules } from './machine-state.ts';
export { LIMITS } from './machine-stream.ts';
export { exposition, METRICS, type Sample } from './metrics.ts';
export { keepMetricsFile } from './metrics-file.node.ts';
export { boundaryId, PACE } from './pacing.ts';
export { askPending } from './peek.node.ts';
export {
  type Banner,
  claudeHook,
  codexShim,
  createHookDesk,
  fallback,
  type HookDesk,
  type Plugin,
  pluginKind,
  type WakePath,
  wakePath,
} from './plugins/index.ts';
export { preparationsFor, venvEnv } from './prepare.ts';
export { createDaemon, type Daemon } from './run.ts';
export { openSession } from './session.node.ts';
export { endLeftOver, keepShim, NO_SHIM, noteShim, type ShimView, shimStarter } from './shim/index.ts';
export { type Facts, heartbeatOf, metricsText, statusOf } from './status.ts';
export { watchTouched } from './touched.node.ts';
export { upstreamUrls } from './upstream-url.ts';
