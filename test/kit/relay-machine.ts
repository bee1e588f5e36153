import { join } from 'node:path';
import { type Item, type Items, type NewItem, openItems, openRemotePersonas } from '../../core/inbox/index.ts';
import {
  createDialer,
  openOutgoingItems,
  openRelayCheckpoints,
  openRelayLink,
  RELAY,
  type Relay,
  type RelayLink,
  startRelay,
} from '../../core/inbox/relay/index.ts';
import { type Fault, toFault } from '../../core/model/index.ts';
import { parseNatsTarget } from '../../core/net/index.ts';
import { type Log, realClock, realRandom } from '../../core/ports/index.ts';
import { type Database, openDatabase } from '../../core/state/index.ts';
import { newItem } from './new-item.ts';
import { until } from './until.ts';

export interface RelayMachineOptions {
  /** Where its database is; one that is there already is taken up again. */
  readonly dir: string;
  readonly url: string;
  readonly personas: readonly string[];
  readonly token?: string | null;
  /** Who is known to live there; default: nobody. */
  readonly residents?: () => readonly string[];
  /** Over the store itself, for one that fails. */
  readonly items?: (items: Items) => Pick<Items, 'push'>;
}

/** One machine as the relay sees it: a store on the disk, and a relay when it is started. */
export interface RelayMachine extends AsyncDisposable {
  readonly items: Items;
  readonly db: Database;
  /** What the board was told: a fault's code, or `ok`. */
  readonly reported: readonly string[];
  readonly faults: readonly Fault[];
  /** Message ids it published, every attempt. */
  readonly sent: readonly string[];
  /** How often it tried to connect. */
  attempts(): number;
  readonly warnings: readonly string[];
  relay(): Relay;
  /** Pushed, and the relay told of it. */
  push(...items: readonly Partial<NewItem>[]): void;
  /** What everybody of the machine has, oldest first. */
  all(persona: string): readonly Item[];
  texts(persona: string): readonly string[];
  has(persona: string, count: number, withinMs?: number): Promise<void>;
  says(word: string, times?: number): Promise<void>;
}

export function relayMachine(options: RelayMachineOptions): RelayMachine {
  const { dir, url, personas, token = 'secret' } = options;
  const db = openDatabase(join(dir, 'hivebar.sqlite'));
  const items = openItems({ db, clock: realClock });
  const elsewhere = openRemotePersonas(db);
  const reported: string[] = [];
  const faults: Fault[] = [];
  const sent: string[] = [];
  let attempts = 0;
  const warnings: string[] = [];
  const log: Log = {
    info: () => {},
    warn: (line) => void warnings.push(line),
    error: (line) => void warnings.push(line),
  };
  let relay: Relay | null = null;
  const dialer = createDialer({ server: parseNatsTarget(url, RELAY), token: () => token });
  const all = (persona: string): readonly Item[] => items.list(persona, 'all', 100_000);
  return {
    items,
    db,
    reported,
    faults,
    sent,
    attempts: () => attempts,
    warnings,
    relay() {
      relay ??= startRelay({
        items: options.items?.(items) ?? items,
        outgoing: openOutgoingItems(db),
        checkpoints: openRelayCheckpoints(db, realRandom),
        personas: () => personas,
        residents: () => options.residents?.() ?? [],
        setElsewhere: (names) => void elsewhere.set(names),
        open: async () => {
          attempts += 1;
          const link = await openRelayLink(dialer);
          const publish: RelayLink['publish'] = (subject, data, messageId) => {
            sent.push(messageId);
            return link.publish(subject, data, messageId);
          };
          return { ...link, publish };
        },
        clock: realClock,
        log,
        retentionMs: 30 * 86_400_000,
        stored: () => relay?.pushed(),
        tell(fault) {
          reported.push(fault?.code ?? 'ok');
          if (fault !== null) faults.push(toFault(fault, RELAY));
        },
      });
      return relay;
    },
    push(...batch) {
      items.push(batch.map(newItem));
      relay?.pushed();
    },
    all,
    texts: (persona) => all(persona).map(({ content }) => content),
    has: (persona, count, withinMs = 60_000) =>
      until(
        () => `${count} items of ${persona}, not ${all(persona).length}; told: ${reported}; ${warnings.join('\n')}`,
        () => all(persona).length >= count,
        withinMs,
      ),
    says: (word, times = 1) =>
      until(
        () => `${word} was told ${times} times: ${reported}; ${warnings.join('\n')}`,
        () => reported.filter((each) => each === word).length >= times,
        60_000,
      ),
    async [Symbol.asyncDispose]() {
      await relay?.[Symbol.asyncDispose]();
      db[Symbol.dispose]();
    },
  };
}
