import { join } from 'node:path';
import type { Disk } from '../../../state/index.ts';
import { gardenFault } from '../fault.ts';
import { described, fieldsOf, onlyKeys, textOrNullIn } from './fields.ts';
import { gardenIdOf } from './id.ts';
import { boxDirectory } from './mailbox.ts';
import type { MetaRecord, Times } from './record.ts';
import { closedAt, MOST_JSON, ownersOf, readSmall } from './small-file.ts';

/** `state.json` of a mailbox: the last time of each step of a message (garden contract 2). */
export interface Receipt extends Times {
  readonly schemaVersion: 1;
  readonly gardenId: string;
}

export const RECEIPT_KEYS = ['schemaVersion', 'gardenId', 'lastEnqueuedAt', 'lastDeliveredAt', 'lastReadAt'] as const;
const WHAT = 'mailbox receipt state';

export const receiptFile = (mailbox: string, gardenId: string): string =>
  join(mailbox, gardenIdOf(gardenId), 'state.json');

/** @throws Fault `garden` that says what is wrong with the text */
export function receiptOf(json: string): Receipt {
  const fields = fieldsOf(json, WHAT);
  if (fields.schemaVersion !== 1) {
    throw gardenFault(`${WHAT} "schemaVersion" must be 1 (got ${described(fields.schemaVersion)}).`, WHAT);
  }
  onlyKeys(fields, RECEIPT_KEYS, WHAT);
  return {
    schemaVersion: 1,
    gardenId: gardenIdOf(fields.gardenId),
    lastEnqueuedAt: textOrNullIn(fields.lastEnqueuedAt, 'lastEnqueuedAt'),
    lastDeliveredAt: textOrNullIn(fields.lastDeliveredAt, 'lastDeliveredAt'),
    lastReadAt: textOrNullIn(fields.lastReadAt, 'lastReadAt'),
  };
}

/**
 * The receipt of a citizen; all null when nothing was ever stamped.
 * @throws Fault `garden` when the file is there and is none, or is another citizen's
 */
export function readReceipt(disk: Disk, mailbox: string, gardenId: string): Receipt {
  const id = gardenIdOf(gardenId);
  const path = receiptFile(mailbox, id);
  const owners = ownersOf(disk, mailbox);
  const closed = closedAt(disk, boxDirectory(mailbox, id), owners);
  if (closed !== null) throw gardenFault(`${WHAT} ${path}: the box ${closed}`, id);
  const file = readSmall(disk, path, MOST_JSON, owners);
  if (file.is === 'absent') {
    return { schemaVersion: 1, gardenId: id, lastEnqueuedAt: null, lastDeliveredAt: null, lastReadAt: null };
  }
  if (file.is === 'refused') throw gardenFault(`${WHAT} ${path} ${file.why}`, id);
  const receipt = receiptOf(file.text);
  if (receipt.gardenId === id) return receipt;
  throw gardenFault(
    `${WHAT} body/path gardenId drift — body gardenId=${receipt.gardenId}, read from <mailbox>/${id}/state.json.`,
    id,
  );
}

/**
 * What is known of a citizen's mail: each time from the receipt, else from a record of the first generation, which
 * keeps it inside until it is migrated (garden contract 3, trap 2).
 */
export function shownReceipt(state: Receipt, record: MetaRecord): Receipt {
  if (record.schemaVersion !== 1) return state;
  const { delivery } = record;
  return {
    ...state,
    lastEnqueuedAt: state.lastEnqueuedAt ?? delivery.lastEnqueuedAt,
    lastDeliveredAt: state.lastDeliveredAt ?? delivery.lastDeliveredAt,
    lastReadAt: state.lastReadAt ?? delivery.lastReadAt,
  };
}
