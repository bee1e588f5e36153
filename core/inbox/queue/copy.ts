import { createHash } from 'node:crypto';

/**
 * The copy of a queue's lines beside it, `FILE.draining`. Its first line names the copy and describes the rest, which is the
 * unchanged bytes. A copy counts only if it is whole.
 */
export type Copy =
  | { readonly is: 'none' }
  /** Its writer died before the copy was complete, so the queue still holds everything. */
  | { readonly is: 'torn' }
  | WholeCopy;

export interface WholeCopy {
  readonly is: 'whole';
  /** 32 hex digits, unique to this copy. */
  readonly nonce: string;
  readonly body: Uint8Array;
}

const BEGINS = '{"copy":"';
const HEAD = /^\{"copy":"([0-9a-f]{32})","bytes":(\d{1,15}),"sha256":"([0-9a-f]{64})"\}$/;
const LF = 0x0a;

export function formatCopy(nonce: string, body: Uint8Array): Uint8Array {
  const head = `${BEGINS}${nonce}","bytes":${body.length},"sha256":"${computeSha256(body)}"}\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

export function parseCopy(bytes: Uint8Array): Copy {
  if (bytes.length === 0) return { is: 'none' };
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 256)).toString('latin1');
  if (!start.startsWith(BEGINS.slice(0, start.length))) {
    // Not our format: lines that somebody else put there. The hash of the content is the name, so that a repetition is
    // recognised.
    return { is: 'whole', nonce: computeSha256(bytes).slice(0, 32), body: bytes };
  }
  const end = bytes.indexOf(LF);
  const [, nonce = '', length = '', sum = ''] = HEAD.exec(start.slice(0, Math.max(0, end))) ?? [];
  const body = bytes.subarray(end + 1, end + 1 + Number(length));
  return nonce !== '' && computeSha256(body) === sum ? { is: 'whole', nonce, body } : { is: 'torn' };
}

function computeSha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
