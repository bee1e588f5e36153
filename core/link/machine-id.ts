import { createHash } from 'node:crypto';

const DIGITS = 12;

/**
 * Makes a name for this machine for labels and records. It is the same at every start and short enough to be read out. The
 * system's own id is confidential (machine-id(5)), so it is hashed together with a fixed word. Without an id the host name is
 * used.
 * @param id the text of /etc/machine-id or its equivalent; null when there is none
 */
export function toMachineId(id: string | null, hostName: string): string {
  const text = id?.trim() ?? '';
  if (/^[0-9a-f-]{32,36}$/i.test(text)) {
    return createHash('sha256').update(`hivebar persona daemon ${text.toLowerCase()}`).digest('hex').slice(0, DIGITS);
  }
  return hostName.replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 64) || 'unknown';
}
