import { type Fault, toFault } from '../model/index.ts';
import type { Clock } from '../ports/index.ts';
import type { Persona, Source } from '../sources/index.ts';
import type { Watcher } from './watcher.ts';

export interface AdoptOptions {
  readonly everyMs: number;
  /** Opens the watch of a persona that appeared. Null: it can't be opened now; it is tried again on the next rescan. */
  open(persona: Persona): Promise<Watcher | null>;
  /** A name the pending list or a hint spoke of, as a persona. */
  toPersona(address: string): Persona;
  /** Told once, until a rescan succeeds or fails in another way. */
  onRescanFailed(fault: Fault): void;
}

/** A rescan that failed is tried again after so long, or after the ordinary time where that is less. */
const RETRY_MS = 60_000;

/** Opens watches of personas that appear while running, each name once; it never drops one (Kijito spec 14.1). */
export interface Adoption {
  /** Hands the opened watch to `enter`; does nothing for a name that is being opened, or was refused since the last rescan. */
  open(address: string, enter: (watcher: Watcher) => void): Promise<void>;
  /**
   * Calls `found` with every name the source has, every `everyMs`, until the abort. `cut` gives a signal that aborts with
   * the next gap: then it asks at once.
   */
  rescan(onAddress: (address: string) => void, cut: () => AbortSignal, abort: AbortSignal): Promise<void>;
}

export function createAdoption(source: Source, clock: Clock, options: AdoptOptions): Adoption {
  const opening = new Set<string>();
  /** Could not be opened. The pending list names them on every tick: they are left alone until the next rescan. */
  const refused = new Set<string>();
  return {
    async open(address, enter) {
      if (opening.has(address) || refused.has(address)) return;
      opening.add(address);
      try {
        const watcher = await options.open(options.toPersona(address));
        if (watcher === null) refused.add(address);
        else enter(watcher);
      } finally {
        opening.delete(address);
      }
    },
    async rescan(onAddress, cut, abort) {
      let wait = options.everyMs;
      let lastMessage = '';
      for (;;) {
        await clock.sleep(wait, cut());
        if (abort.aborted) return;
        const asking = cut();
        try {
          const personas = await source.personas(asking);
          wait = options.everyMs;
          lastMessage = '';
          refused.clear();
          for (const persona of personas) onAddress(persona.address);
        } catch (error) {
          if (abort.aborted) return;
          wait = asking.aborted ? 0 : Math.min(options.everyMs, RETRY_MS);
          if (asking.aborted) continue; // a gap cut it: no failure
          const fault = toFault(error, { is: 'source', key: source.id });
          if (fault.message !== lastMessage) options.onRescanFailed(fault);
          lastMessage = fault.message;
        }
      }
    },
  };
}
