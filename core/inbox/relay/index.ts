export { checkRelay, type RelayCheckStep } from './check.ts';
export {
  type OutgoingItem,
  type OutgoingItems,
  openOutgoingItems,
  openRelayCheckpoints,
  type RelayCheckpoints,
} from './exchange.ts';
export { createDialer, type Dialer, type DialOptions, openRelayLink } from './link.node.ts';
export { RELAY, type RelayLink, type StreamDelivery } from './link.ts';
export { type Relay, type RelayOptions, startRelay } from './relay.ts';
export { ALL_SUBJECT, createDurables, decodeName, encodeName, type KeyedItem, STREAM, toSubject } from './wire.ts';
