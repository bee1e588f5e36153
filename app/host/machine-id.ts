import { createHash } from 'node:crypto';

const DIGITS = 12;

/**
 * A name for this machine in labels and records: the same at every start, and short enough to be read out. The id that the
 * system gives itself is confidential (machine-id(5)), so it is hashed with a word of ours; without one the name of the host
 * stands for it.
 * @param id the text of /etc/machine-id or what stands for it; null: there is none
 */
export function toMachineId(id: string | null, hostName: string): string {
  const text = id?.trim() ?? '';
  if (/^[0-9a-f-]{32,36}$/i.test(text)) {
    return createHash('sha256').update(`hivebar persona daemon ${text.toLowerCase()}`).digest('hex').slice(0, DIGITS);
  }
  return hostName.replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 64) || 'unknown';
}
