import { type DaemonConfig, LOCAL } from './config.ts';
import type { DaemonName } from './places.ts';

/** A longer name is not put into a command. */
const LONGEST_NAME = 64;

type DoorbellConfig = Pick<DaemonConfig, 'tenant' | 'identity' | 'address' | 'upstream'>;

/**
 * Formats the one line that an agent reads for a doorbell: that something waits, and how to fetch it. The line contains only what
 * was installed, and nothing that anybody sent (persona daemon, contract 4).
 */
export function formatDoorbellLine(config: DoorbellConfig): string {
  return formatWorkNotice(config, [formatDrainCommand(config, null)]);
}

/** Formats the same line with other commands to fetch the work. */
export function formatWorkNotice({ tenant, identity }: DaemonName, commands: readonly string[]): string {
  return `hivebar: work waits for ${tenant}/${identity}; fetch it now: ${commands.join(', and ')}`;
}

/** Formats the command with which a surface fetches what its daemon rings for. @param session whose own items are included too */
export function formatDrainCommand(
  { tenant, identity, address, upstream }: DoorbellConfig,
  session: string | null,
): string {
  if (upstream === LOCAL) return formatInboxDrainCommand(address, session);
  return `hivebar daemon drain --tenant ${tenant} --identity ${identity}`;
}

/** Formats the same command for the local hive. */
export function formatInboxDrainCommand(name: string, session: string | null): string {
  const whose = session === null ? '' : ` --session ${quoteWord(session, 'SESSION')}`;
  return `hivebar inbox drain ${quoteWord(name, 'PERSONA')}${whose}`;
}

/**
 * Quotes a name so that no shell acts on it. A name that cannot be quoted is replaced by a placeholder, which the agent fills in.
 */
function quoteWord(name: string, instead: string): string {
  if (/^[A-Za-z0-9._][A-Za-z0-9._-]*$/.test(name) && name.length <= LONGEST_NAME) return name;
  const isQuotable = /^[\p{Letter}\p{Number}._][\p{Letter}\p{Number} ._-]*$/u.test(name);
  return isQuotable && name.length <= LONGEST_NAME ? `'${name}'` : instead;
}
