import { formatIso, type Instant, parseJson } from '../../model/index.ts';
import type { Clock } from '../../ports/index.ts';
import type { RelayLink, StreamMessage } from './link.ts';
import { MACHINES, toMachineSubject } from './wire.ts';

export interface ResidenceOptions {
  /** This machine's name in the stream. */
  readonly machine: string;
  /** The personas that live here, now. */
  readonly residents: () => readonly string[];
  /** Called at each round with the personas that live on other machines and not here. */
  readonly setElsewhere: (names: ReadonlySet<string>) => void;
  readonly clock: Clock;
}

/** An announcement is repeated after the first interval. One older than the second belongs to a machine that no longer exists. */
const REPEAT_MS = 86_400_000;
const LAPSES_MS = 7 * 86_400_000;

interface ResidenceAnnouncement {
  readonly seq: number;
  readonly time: Instant;
  readonly personas: readonly string[];
}

/**
 * Tracks who lives where, for one connection. Each machine announces its residents in the stream; its newest announcement counts,
 * and it deletes its older ones. Returns a function that runs one round: it announces changes here, and reads what others
 * announced since the last round. A round rejects with what the link rejects with.
 */
export function createResidence(link: RelayLink, options: ResidenceOptions): () => Promise<void> {
  const { machine, residents, setElsewhere, clock } = options;
  const machines = new Map<string, ResidenceAnnouncement>();
  const own = toMachineSubject(machine);
  let lastSeq = 0;

  async function hear(): Promise<void> {
    for (;;) {
      const next = await link.next(MACHINES, lastSeq + 1);
      if (next === null) return;
      lastSeq = next.seq;
      const before = machines.get(next.subject);
      machines.set(next.subject, parseAnnouncement(next));
      if (next.subject === own && before !== undefined) await erase(before.seq);
    }
  }

  /** A failed deletion does no harm, because only the newest announcement counts. */
  async function erase(seq: number): Promise<void> {
    await link.erase(seq).catch(() => {});
  }

  async function announce(mine: readonly string[]): Promise<void> {
    const announced = machines.get(own);
    if (announced === undefined && mine.length === 0) return;
    const isSame = announced !== undefined && JSON.stringify(announced.personas) === JSON.stringify(mine);
    if (isSame && clock.now() - announced.time < REPEAT_MS) return;
    const at = formatIso(clock.now());
    await link.publish(own, JSON.stringify({ personas: mine, at }), `${own}:${at}`);
    await hear();
  }

  return async () => {
    await hear();
    const mine = [...new Set(residents())].sort();
    await announce(mine);
    const localNames = new Set(mine);
    const fresh = [...machines].filter(([subject, { time }]) => subject !== own && clock.now() - time < LAPSES_MS);
    const names = fresh.flatMap(([, { personas }]) => personas);
    setElsewhere(new Set(names.filter((name) => !localNames.has(name))));
  };
}

/** A message that is not an announcement names nobody. */
function parseAnnouncement({ data, seq, time }: StreamMessage): ResidenceAnnouncement {
  try {
    const body = parseJson(Buffer.from(data).toString('utf8')) as { readonly personas?: unknown } | null;
    const personas: unknown[] = Array.isArray(body?.personas) ? body.personas : [];
    return { seq, time, personas: personas.filter((name): name is string => typeof name === 'string' && name !== '') };
  } catch {
    return { seq, time, personas: [] }; // the message cannot be parsed, whoever wrote it
  }
}
