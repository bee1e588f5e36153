export { checkRelay, type RelayCheckStep } from './check.ts';
export { createDialer, type Dialer, type DialOptions, openRelayLink } from './link.node.ts';
export { RELAY, type RelayLink, type StreamDelivery } from './link.ts';
export { type OutgoingItem, type OutgoingItems, openOutgoingItems } from './outgoing.ts';
export { openRelayCheckpoints, type RelayCheckpoints } from './receive.ts';
export { type Relay, type RelayOptions, startRelay } from './relay.ts';
export { ALL_SUBJECT, createDurables, decodeName, encodeName, type KeyedItem, STREAM, toSubject } from './wire.ts';
