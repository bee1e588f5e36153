import { join } from 'node:path';
import type { Disk } from '../../../state/index.ts';
import { createGardenFault } from '../fault.ts';
import { describeValue, parseFields, requireOnlyKeys, requireTextOrNull } from './fields.ts';
import { parseGardenId } from './id.ts';
import { toBoxPath } from './mailbox.ts';
import type { MetaRecord, Times } from './record.ts';
import { MOST_JSON, readDirectoryDefect, readOwners, readSmall } from './small-file.ts';

/** `state.json` of a mailbox: the last time of each stage of a message (garden contract 2). */
export interface Receipt extends Times {
  readonly schemaVersion: 1;
  readonly gardenId: string;
}

export const RECEIPT_KEYS = ['schemaVersion', 'gardenId', 'lastEnqueuedAt', 'lastDeliveredAt', 'lastReadAt'] as const;
const SUBJECT = 'mailbox receipt state';

export const toReceiptPath = (mailbox: string, gardenId: string): string =>
  join(mailbox, parseGardenId(gardenId), 'state.json');

/** @throws Fault `garden` that says what is wrong with the text */
export function parseReceipt(json: string): Receipt {
  const fields = parseFields(json, SUBJECT);
  if (fields.schemaVersion !== 1) {
    throw createGardenFault(
      `${SUBJECT} "schemaVersion" must be 1 (got ${describeValue(fields.schemaVersion)}).`,
      SUBJECT,
    );
  }
  requireOnlyKeys(fields, RECEIPT_KEYS, SUBJECT);
  return {
    schemaVersion: 1,
    gardenId: parseGardenId(fields.gardenId),
    lastEnqueuedAt: requireTextOrNull(fields.lastEnqueuedAt, 'lastEnqueuedAt'),
    lastDeliveredAt: requireTextOrNull(fields.lastDeliveredAt, 'lastDeliveredAt'),
    lastReadAt: requireTextOrNull(fields.lastReadAt, 'lastReadAt'),
  };
}

/**
 * The receipt of a citizen; all times are null when nothing was ever recorded.
 * @throws Fault `garden` when the file exists and is no receipt, or another citizen's
 */
export function readReceipt(disk: Disk, mailbox: string, gardenId: string): Receipt {
  const id = parseGardenId(gardenId);
  const path = toReceiptPath(mailbox, id);
  const owners = readOwners(disk, mailbox);
  const closed = readDirectoryDefect(disk, toBoxPath(mailbox, id), owners);
  if (closed !== null) throw createGardenFault(`${SUBJECT} ${path}: the box ${closed}`, id);
  const file = readSmall(disk, path, MOST_JSON, owners);
  if (file.is === 'absent') {
    return { schemaVersion: 1, gardenId: id, lastEnqueuedAt: null, lastDeliveredAt: null, lastReadAt: null };
  }
  if (file.is === 'refused') throw createGardenFault(`${SUBJECT} ${path} ${file.why}`, id);
  const receipt = parseReceipt(file.text);
  if (receipt.gardenId === id) return receipt;
  throw createGardenFault(
    `${SUBJECT} body/path gardenId drift — body gardenId=${receipt.gardenId}, read from <mailbox>/${id}/state.json.`,
    id,
  );
}

/**
 * What is known about a citizen's mail: each time from the receipt, otherwise from a record of the first generation, which holds
 * the times until it is migrated (garden contract 3, trap 2).
 */
export function mergeReceipt(state: Receipt, record: MetaRecord): Receipt {
  if (record.schemaVersion !== 1) return state;
  const { delivery } = record;
  return {
    ...state,
    lastEnqueuedAt: state.lastEnqueuedAt ?? delivery.lastEnqueuedAt,
    lastDeliveredAt: state.lastDeliveredAt ?? delivery.lastDeliveredAt,
    lastReadAt: state.lastReadAt ?? delivery.lastReadAt,
  };
}
