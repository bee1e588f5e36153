export { parseUpstreamUrls, type UpstreamEndpoint } from './calls.ts';
export type { DaemonLog } from './daemon-log.ts';
export { startMetricsFile, watchActivityFile } from './files.node.ts';
export { openDaemonLog } from './log-outlets.node.ts';
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
export { classifyError, LIMITS } from './machine-stream.ts';
export { formatTurnBoundaryId, PACE } from './pacing.ts';
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
export { createDaemon, type Daemon, listPreparations, toVenvEnv } from './run.ts';
export { askPending, openSession } from './session.node.ts';
export { NO_SHIM, type ShimView, startShim } from './shim.ts';
export { createShimStarter, endOrphanedShim, writeShimPid } from './shim-process.node.ts';
export {
  type DaemonFacts,
  type DaemonMetricSample,
  formatExposition,
  formatMetrics,
  METRICS,
  toDaemonStatus,
  toHeartbeat,
  toLabels,
  toLabelValue,
} from './status.ts';
