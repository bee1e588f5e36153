import {
  type CitizenIdentity,
  KEYS_V2,
  KEYS_V3,
  RECEIPT_KEYS,
  type Receipt,
  type ReceiverMarker,
  type SenderMarker,
} from '../read/index.ts';

const OWNER_KEYS = ['ownerPid', 'ownerStartKey'] as const;
const SENDER_KEYS = ['backend', 'gardenId', 'nativeSessionId', 'cwd', ...OWNER_KEYS, 'updatedAt'] as const;
const RECEIVER_KEYS = [
  ...(['gardenId', 'backend', 'nativeSessionId', ...OWNER_KEYS] as const),
  ...(['ownerKind', 'armProvenance', 'updatedAt'] as const),
] as const;

/** The text of a record, exactly as both generations of the library write it (garden contract 2). */
export function formatRecord(identity: CitizenIdentity): string {
  return identity.schemaVersion === 2 ? formatFields(identity, KEYS_V2) : formatFields(identity, KEYS_V3);
}

export function formatReceipt(receipt: Receipt): string {
  return formatFields(receipt, RECEIPT_KEYS);
}

export function formatSenderMarker(marker: SenderMarker): string {
  return formatFields(marker, SENDER_KEYS);
}

export function formatReceiverMarker(marker: ReceiverMarker): string {
  return formatFields(marker, RECEIVER_KEYS);
}

/** Always these keys in this order, indented by two spaces, with one newline at the end. */
function formatFields<K extends string>(value: Readonly<Record<K, unknown>>, keys: readonly K[]): string {
  return `${JSON.stringify(Object.fromEntries(keys.map((key) => [key, value[key]])), null, 2)}\n`;
}
