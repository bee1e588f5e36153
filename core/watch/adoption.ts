import { type Fault, toFault } from '../model/index.ts';
import type { Clock } from '../ports/index.ts';
import type { Persona, Source } from '../sources/index.ts';
import type { Watcher } from './watcher.ts';

export interface AdoptOptions {
  readonly everyMs: number;
  /** Opens the watcher of a persona that appeared. Null: it cannot be opened now, and the next rescan tries again. */
  open(persona: Persona): Promise<Watcher | null>;
  /** Turns an address that the pending list or a hint named into a persona. */
  toPersona(address: string): Persona;
  /** Called once per failure, until a rescan succeeds or fails in another way. */
  onRescanFailed(fault: Fault): void;
}

/** A failed rescan is tried again after this time, or after `everyMs` if that is shorter. */
const RETRY_MS = 60_000;

/** Opens watchers for personas that appear while running, each address once. It never drops one (Kijito spec 14.1). */
export interface Adoption {
  /**
   * Hands the opened watcher to `enter`. Does nothing if the address is being opened or was refused since the last
   * rescan.
   */
  open(address: string, enter: (watcher: Watcher) => void): Promise<void>;
  /**
   * Calls `onAddress` with every address of the source, every `everyMs`, until `abort`. `cut` gives a signal that the
   * next interruption aborts; the rescan then asks the source at once.
   */
  rescan(onAddress: (address: string) => void, cut: () => AbortSignal, abort: AbortSignal): Promise<void>;
}

export function createAdoption(source: Source, clock: Clock, options: AdoptOptions): Adoption {
  const opening = new Set<string>();
  /**
   * Addresses that could not be opened. The pending list names them on every tick, so they wait for the next rescan.
   */
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
          if (asking.aborted) continue; // an interruption cut the request: that is no failure
          const fault = toFault(error, { is: 'source', key: source.id });
          if (fault.message !== lastMessage) options.onRescanFailed(fault);
          lastMessage = fault.message;
        }
      }
    },
  };
}
