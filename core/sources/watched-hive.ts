import type { Persona, Source } from './source.ts';

/** One hive that the tray process watches: a source, and what the watchers need to know of it. */
export interface WatchedHive {
  readonly source: Source;
  /** Where the hive is, as a text for a person. */
  readonly address: string;
  /** Says which inbox a saved position belongs to, as JSON. */
  identity(persona: Persona): unknown;
  named(address: string): Persona;
  /** How long the hive holds a long poll, in milliseconds; null for no long poll. */
  readonly holdMs: number | null;
  /**
   * `embedded`: the hive that Hivebar itself serves. `disk`: files of this machine. `remote`: behind a connection, so that only so many
   * polls run at once. The identities of the first two name the address second.
   */
  readonly kind: 'embedded' | 'disk' | 'remote';
  /**
   * The first poll of a persona delivers its whole inbox, where a setting says so. Else it is a baseline: counted, and not
   * delivered. The embedded hive has no mail from before Hivebar, so there it is always so.
   */
  readonly deliversBacklog: boolean;
  /**
   * Resolves as soon as there is something to watch, or when the signal aborts. `came` means that the hive did not exist before,
   * so all of its mail came while Hivebar was running and is news. Without this method the hive is always present.
   */
  appears?(signal: AbortSignal): Promise<'there' | 'came'>;
}
