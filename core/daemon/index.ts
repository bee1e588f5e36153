export { codeOfStatus } from './backoff.ts';
export { doorbellAt } from './doorbell.ts';
export { classOf, isErrorClass } from './errors.ts';
export { type Labels, labelsOf, labelValue, type PersonaLabels, type Strange } from './labels.ts';
export { atStart, dueMono, step, withoutIndex } from './machine.ts';
export { ownMachineId } from './machine-id.node.ts';
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
export { boundaryId, PACE } from './pacing.ts';
export { type Facts, heartbeatOf, metricsText, statusOf } from './status.ts';
export { taxonomyOf } from './taxonomy.ts';
