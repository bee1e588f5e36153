export { codeOfStatus } from './backoff.ts';
export type { Upstream } from './calls.ts';
export { doorbellAt } from './doorbell.ts';
export { classOf, isErrorClass } from './errors.ts';
export { type Labels, labelsOf, labelValue, type PersonaLabels, type Strange } from './labels.ts';
export { type DaemonLog, openDaemonLog } from './log/index.ts';
export { atStart, dueMono, step, withoutIndex } from './machine.ts';
export type {
  Effect,
  Errors,
  Happening,
  Input,
  MachineState,
  Now,
  Output,
  Rules,
} from './machine-state.ts';
export { LIMITS } from './machine-stream.ts';
export { exposition, METRICS, type MetricName, type Sample, samplesOf } from './metrics.ts';
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
export { taxonomyOf } from './taxonomy.ts';
export { watchTouched } from './touched.node.ts';
export { upstreamUrls } from './upstream-url.ts';
