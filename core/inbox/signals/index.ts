export {
  type Agent,
  type Heartbeat,
  type Joiner,
  keepRegistrations,
  type Peer,
  type PeerChange,
  type Registration,
  type Registrations,
} from './registrations.ts';
export { keepSignals, type LentSignals, type SignalChange, type Signals } from './signals.ts';
