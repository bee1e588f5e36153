import { formatIso, type Instant, parseJson } from '../../model/index.ts';
import type { Clock } from '../../ports/index.ts';
import type { RelayLink, StreamMessage } from './link.ts';
import { MACHINES, toMachineSubject } from './names.ts';

export interface ResidenceOptions {
  /** This machine's name in the stream. */
  readonly machine: string;
  /** Who lives here, now. */
  readonly residents: () => readonly string[];
  /** Told of who lives on other machines and not here, with each look. */
  readonly setElsewhere: (names: ReadonlySet<string>) => void;
  readonly clock: Clock;
}

/** An announcement is repeated after so long, and one that is older than the second is of a machine that is no more. */
const REPEAT_MS = 86_400_000;
const LAPSES_MS = 7 * 86_400_000;

interface ResidenceAnnouncement {
  readonly seq: number;
  readonly time: Instant;
  readonly personas: readonly string[];
}

/**
 * Who lives where, for one connection: each machine announces its residents in the stream, the newest announcement of a
 * machine counts, and a machine takes its older ones away. Returns a look, which announces what changed here and hears what
 * the others announced since the last one. A look rejects with what the link rejects with.
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

  /** One that is gone already, or stays, does no harm: the newest counts. */
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

/** What is no announcement names nobody. */
function parseAnnouncement({ data, seq, time }: StreamMessage): ResidenceAnnouncement {
  try {
    const body = parseJson(Buffer.from(data).toString('utf8')) as { readonly personas?: unknown } | null;
    const personas: unknown[] = Array.isArray(body?.personas) ? body.personas : [];
    return { seq, time, personas: personas.filter((name): name is string => typeof name === 'string' && name !== '') };
  } catch {
    return { seq, time, personas: [] }; // whoever wrote it, it says nothing that can be understood
  }
}
