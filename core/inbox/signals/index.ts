export {
  type AnnouncedAgent,
  createRegistrations,
  type Joiner,
  type Peer,
  type PeerChange,
  type PeerHeartbeat,
  type Registration,
  type Registrations,
} from './registrations.ts';
export { openSignals, type SignalChange, type SignalLease, type Signals } from './signals.ts';
