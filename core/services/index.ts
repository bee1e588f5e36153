export {
  every,
  type OnDemandOptions,
  onDemand,
  type PeriodicOptions,
  type PeriodicService,
  type Service,
  type Supervisor,
  type SupervisorOptions,
  supervise,
  untilAborted,
  type WhileNeededOptions,
  waitUntil,
  whileNeeded,
} from './services.ts';
export { createTroubleLog, type TroubleLog } from './trouble-log.ts';
