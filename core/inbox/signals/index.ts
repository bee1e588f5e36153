export {
  type Agent,
  EXPIRE_MS,
  type Heartbeat,
  type Joiner,
  keepRegistrations,
  type Peer,
  type PeerChange,
  type Registration,
  type Registrations,
  type RegistrationsOptions,
  type StaleBinding,
} from './registrations.ts';
export {
  keepSignals,
  type LentSignals,
  type PendingSignals,
  type SignalChange,
  type Signals,
  type SignalsOptions,
} from './signals.ts';
