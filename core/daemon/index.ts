export { watchActivityFile } from './activity-file.node.ts';
export type { UpstreamEndpoint } from './calls.ts';
export { classifyError } from './errors.ts';
export { toLabels, toLabelValue } from './labels.ts';
export { type DaemonLog, openDaemonLog } from './log/index.ts';
export { computeDueMono, createMachineState, dropIndex, step } from './machine.ts';
export type {
  DaemonEffect,
  DaemonInput,
  DaemonOutput,
  DaemonRules,
  ErrorCounts,
  Happening,
  MachineState,
  Now,
} from './machine-state.ts';
export { LIMITS } from './machine-stream.ts';
export { type DaemonMetricSample, formatExposition, METRICS } from './metrics.ts';
export { startMetricsFile } from './metrics-file.node.ts';
export { formatTurnBoundaryId, PACE } from './pacing.ts';
export { askPending } from './peek.node.ts';
export {
  choosePluginKind,
  createClaudeHook,
  createCodexShim,
  createFallback,
  createHookDesk,
  type HookDesk,
  openWakePath,
  type PersonNotifier,
  type Plugin,
  type WakePath,
} from './plugins/index.ts';
export { listPreparations, toVenvEnv } from './prepare.ts';
export { createDaemon, type Daemon } from './run.ts';
export { openSession } from './session.node.ts';
export { createShimStarter, endOrphanedShim, NO_SHIM, type ShimView, startShim, writeShimPid } from './shim/index.ts';
export { type DaemonFacts, formatMetrics, toDaemonStatus, toHeartbeat } from './status.ts';
export { parseUpstreamUrls } from './upstream-url.ts';
