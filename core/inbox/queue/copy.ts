import { createHash } from 'node:crypto';

/**
 * The copy of a queue's lines beside it, `FILE.draining`: one line that names it and says what follows, then the bytes as they
 * were. A copy counts only when it is whole.
 */
export type Copy =
  | { readonly is: 'none' }
  /** Its writer died before it was done, so the queue still holds everything. */
  | { readonly is: 'torn' }
  | WholeCopy;

export interface WholeCopy {
  readonly is: 'whole';
  /** 32 hex digits that no other copy has. */
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
    // Not one of ours: lines that somebody else put aside. Named by what they are, so that a repetition is recognised.
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
