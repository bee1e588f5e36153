export { type Dialer, type DialOptions, dialerOf } from './dial.node.ts';
export { RELAY } from './faults.ts';
export { openLink } from './link.node.ts';
export type { Incoming, Link } from './link.ts';
export { type Marks, openMarks } from './marks.ts';
export { ALL, decodeName, durablesOf, encodeName, STREAM, subjectOf } from './names.ts';
export { type Outgoing, type OutgoingItem, outgoingOf } from './outgoing.ts';
export { type Relay, type RelayOptions, startRelay } from './relay.ts';
export type { KeyedItem } from './wire.ts';
