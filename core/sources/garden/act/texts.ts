import {
  type Identity,
  KEYS_V2,
  KEYS_V3,
  RECEIPT_KEYS,
  type Receipt,
  type ReceiverMarker,
  type SenderMarker,
} from '../read/index.ts';

const COMMON_OF_OWNED = ['ownerPid', 'ownerStartKey'] as const;
const SENDER_KEYS = ['backend', 'gardenId', 'nativeSessionId', 'cwd', ...COMMON_OF_OWNED, 'updatedAt'] as const;
const RECEIVER_KEYS = [
  ...(['gardenId', 'backend', 'nativeSessionId', ...COMMON_OF_OWNED] as const),
  ...(['ownerKind', 'armProvenance', 'updatedAt'] as const),
] as const;

/** The bytes of a record: what both generations of the library write for it (garden contract 2). */
export function recordText(identity: Identity): string {
  return identity.schemaVersion === 2 ? textOf(identity, KEYS_V2) : textOf(identity, KEYS_V3);
}

export function receiptText(receipt: Receipt): string {
  return textOf(receipt, RECEIPT_KEYS);
}

export function senderText(marker: SenderMarker): string {
  return textOf(marker, SENDER_KEYS);
}

export function receiverText(marker: ReceiverMarker): string {
  return textOf(marker, RECEIVER_KEYS);
}

/** Always these keys in this order, two spaces, one newline at the end. */
function textOf<K extends string>(value: Readonly<Record<K, unknown>>, keys: readonly K[]): string {
  return `${JSON.stringify(Object.fromEntries(keys.map((key) => [key, value[key]])), null, 2)}\n`;
}
