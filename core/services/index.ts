export { every, type PeriodicOptions, type PeriodicService } from './every.ts';
export { type OnDemandOptions, onDemand } from './on-demand.ts';
export { type Service, untilAborted } from './service.ts';
export { type Supervisor, type SupervisorOptions, supervise } from './supervise.ts';
