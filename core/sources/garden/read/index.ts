export { type Agent, type AgentReason, agentOf, type Signs } from './agent.ts';
export { type Agents, type Asks, agentsOf } from './agents.ts';
export {
  BACKENDS,
  type Backend,
  CAPABILITIES,
  type Capability,
  NATIVE_BACKENDS,
  type NativeBackend,
  type WakeMode,
} from './backends.ts';
export { type Boxes, type BoxSeen, keepBoxes } from './boxes.ts';
export {
  type Capabilities,
  type CapabilitiesRead,
  capabilitiesOf,
  driftIn,
  readCapabilities,
} from './capabilities.ts';
export { type Envelope, envelopeOf, formatEnvelope, senderOf } from './envelope.ts';
export { booleanIn, textIn, textOrNullIn, wordIn } from './fields.ts';
export { gardenIdOf, isGardenId, utcOf } from './id.ts';
export { keepLives, type Life, type Lives } from './lives.ts';
export {
  type Body,
  type Box,
  type BoxLook,
  boxDirectory,
  createdOf,
  EMPTY_MS,
  isAnnounced,
  isLeftEmpty,
  lookInBox,
  type Message,
  messageAt,
  messagesIn,
  peek,
  SIGNAL,
  type Stage,
  type Strays,
  straysIn,
  type Unread,
} from './mailbox.ts';
export {
  type MarkerRead,
  PROVENANCES,
  type Provenance,
  type ReceiverMarker,
  readReceiver,
  readSenders,
  receiverFile,
  receiverMarkerOf,
  type SenderMarker,
  type Senders,
  senderFile,
  senderMarkerOf,
} from './markers.ts';
export { type Places, type PlacesOptions, placesOf } from './places.ts';
export { realProcesses } from './processes.node.ts';
export { RECEIPT_KEYS, type Receipt, readReceipt, receiptFile, receiptOf, shownReceipt } from './receipt.ts';
export {
  type Identity,
  type IdentityV2,
  type IdentityV3,
  identityOf,
  KEYS_V2,
  KEYS_V3,
  type MetaRecord,
  parentIn,
  type RecordV1,
  recordOf,
  SCHEMAS,
  type Schema,
  type Times,
} from './record.ts';
export { type Kept, keepRecords, type Records } from './records.ts';
export { bytesFrom, closedBy, MOST_BODY, openSmall, ownersOf, statOf, wrongWith } from './small-file.ts';
export { type Listener, listenerAt } from './socket.node.ts';
export { isPlausible, type Owner, ownerOf, type Processes, type ProcessState } from './start-key.ts';
export {
  type Defect,
  EVERYTHING,
  findMixedGenerations,
  type Listing,
  listRecords,
  listStrictly,
  type Reads,
  readRecord,
  recordFile,
  type Scan,
  SEED_COMPAT,
  scanFor,
} from './store.ts';
