import { type DaemonConfig, LOCAL } from './config.ts';

/** A longer name is none that anybody types. */
const LONGEST_NAME = 64;

/**
 * The one line that an agent is shown for a doorbell: that something waits, and how to have it. It is made of what was
 * installed and of nothing that anybody sent (persona daemon, contract 4).
 */
export function doorbellLine({
  tenant,
  identity,
  address,
  upstream,
}: Pick<DaemonConfig, 'tenant' | 'identity' | 'address' | 'upstream'>): string {
  const drain =
    upstream === LOCAL
      ? `hivebar inbox drain ${word(address)}`
      : `hivebar daemon drain --tenant ${tenant} --identity ${identity}`;
  return `hivebar: work waits for ${tenant}/${identity}; fetch it now: ${drain}`;
}

/** A name that no shell acts on. One that can not be typed like that is left for the agent to put in. */
function word(name: string): string {
  if (/^[A-Za-z0-9._][A-Za-z0-9._-]*$/.test(name) && name.length <= LONGEST_NAME) return name;
  const isQuotable = /^[\p{Letter}\p{Number}._][\p{Letter}\p{Number} ._-]*$/u.test(name);
  return isQuotable && name.length <= LONGEST_NAME ? `'${name}'` : 'PERSONA';
}
