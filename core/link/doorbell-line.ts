import { type DaemonConfig, LOCAL } from './config.ts';
import type { DaemonName } from './places.ts';

/** A longer name is none that anybody types. */
const LONGEST_NAME = 64;

type DoorbellConfig = Pick<DaemonConfig, 'tenant' | 'identity' | 'address' | 'upstream'>;

/**
 * The one line that an agent is shown for a doorbell: that something waits, and how to have it. It is made of what was
 * installed and of nothing that anybody sent (persona daemon, contract 4).
 */
export function formatDoorbellLine(config: DoorbellConfig): string {
  return formatWorkNotice(config, [formatDrainCommand(config, null)]);
}

/** The same with other ways to have it. */
export function formatWorkNotice({ tenant, identity }: DaemonName, commands: readonly string[]): string {
  return `hivebar: work waits for ${tenant}/${identity}; fetch it now: ${commands.join(', and ')}`;
}

/** What a surface types to have what its daemon rings for. @param session of which what is for it alone is wanted too */
export function formatDrainCommand(
  { tenant, identity, address, upstream }: DoorbellConfig,
  session: string | null,
): string {
  if (upstream === LOCAL) return formatInboxDrainCommand(address, session);
  return `hivebar daemon drain --tenant ${tenant} --identity ${identity}`;
}

/** The same for what is in the local hive. */
export function formatInboxDrainCommand(name: string, session: string | null): string {
  const whose = session === null ? '' : ` --session ${quoteWord(session, 'SESSION')}`;
  return `hivebar inbox drain ${quoteWord(name, 'PERSONA')}${whose}`;
}

/** A name that no shell acts on. One that cannot be typed like that is left for the agent to put in. */
function quoteWord(name: string, instead: string): string {
  if (/^[A-Za-z0-9._][A-Za-z0-9._-]*$/.test(name) && name.length <= LONGEST_NAME) return name;
  const isQuotable = /^[\p{Letter}\p{Number}._][\p{Letter}\p{Number} ._-]*$/u.test(name);
  return isQuotable && name.length <= LONGEST_NAME ? `'${name}'` : instead;
}
