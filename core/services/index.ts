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
} from './services.ts';
