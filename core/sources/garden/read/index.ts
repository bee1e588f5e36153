export { type AgentLiveness, type AgentReason, judgeLiveness, type LivenessSigns } from './agent-liveness.ts';
export {
  BACKENDS,
  type Backend,
  CAPABILITIES,
  type Capability,
  NATIVE_BACKENDS,
  type NativeBackend,
  type WakeMode,
} from './backends.ts';
export { type BoxReader, type BoxReading, createBoxReader } from './boxes.ts';
export {
  type Capabilities,
  type CapabilitiesRead,
  findDrift,
  parseCapabilities,
  readCapabilities,
} from './capabilities.ts';
export { formatEnvelope, type GardenEnvelope, parseEnvelope, parseSender } from './envelope.ts';
export { requireBoolean, requireText, requireTextOrNull, requireWord } from './fields.ts';
export { formatUtc, isGardenId, parseGardenId } from './id.ts';
export { createLivenessReader, type LivenessReader, type LivenessResult } from './liveness-reader.ts';
export {
  type Body,
  type Box,
  type BoxState,
  EMPTY_MS,
  findMessage,
  findMessages,
  findStrays,
  type GardenMessage,
  isAnnounced,
  isLeftEmpty,
  parseCreated,
  peek,
  readBox,
  SIGNAL,
  type Stage,
  type Strays,
  toBoxPath,
  type UnreadMessage,
} from './mailbox.ts';
export {
  type ArmProvenance,
  type MarkerRead,
  PROVENANCES,
  parseReceiverMarker,
  parseSenderMarker,
  type ReceiverMarker,
  readReceiver,
  readSenders,
  type SenderMarker,
  type SenderMarkers,
  toReceiverPath,
  toSenderPath,
} from './markers.ts';
export { computeGardenPlaces, type GardenPlaces, type GardenPlacesOptions } from './places.ts';
export { readProcesses } from './processes.node.ts';
export { mergeReceipt, parseReceipt, RECEIPT_KEYS, type Receipt, readReceipt, toReceiptPath } from './receipt.ts';
export {
  type CitizenIdentity,
  type IdentityV2,
  type IdentityV3,
  KEYS_V2,
  KEYS_V3,
  type MetaRecord,
  parseParent,
  parseRecord,
  type RecordSchema,
  type RecordV1,
  SCHEMAS,
  type Times,
  toCitizenIdentity,
} from './record.ts';
export { createRecordReader, type RecordListing, type RecordReader } from './records.ts';
export {
  findDirectoryDefect,
  findFileDefect,
  MOST_BODY,
  openSmall,
  readBytes,
  readOwners,
  readStat,
} from './small-file.ts';
export { probeListener, type SocketListener } from './socket.node.ts';
export { isPlausible, judgeOwner, type OwnerState, type ProcessReader, type ProcessState } from './start-key.ts';
export {
  type Defect,
  EVERYTHING,
  findBySession,
  findMixedGenerations,
  type Listing,
  listRecords,
  listStrictly,
  type RecordReadRules,
  readRecord,
  recordFile,
  type Scan,
  SEED_COMPAT,
} from './store.ts';
export { type LivenessProbes, readStoreLiveness, type StoreLiveness } from './store-liveness.ts';
