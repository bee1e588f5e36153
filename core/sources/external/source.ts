import { type PersonaId, type SourceId, toFault } from '../../model/index.ts';
import type { Log } from '../../ports/index.ts';
import type { MarkReadSelection, Persona, Reply, Source } from '../source.ts';
import type { Engine } from './engine.ts';

/** Begins to run a source outside of Hivebar. Polls are answered from what its engine knows. */
export function openExternalSource(id: SourceId, engine: Engine, acts: boolean, log: Log): Source {
  const stop = new AbortController();
  const ended = engine.run(stop.signal).catch((error: unknown) => {
    log.error(`${id}: ${toFault(error, { is: 'source', key: id }).explain()}`);
  });

  /** Returns how many things it is asked to mark. Whether it did shows at the next poll. */
  function markRead(persona: { readonly id: PersonaId; readonly address: string }, which: MarkReadSelection): number {
    const { address } = persona;
    const keys = [...engine.listKeys(address)].flatMap(([seq, key]) => (isSelected(seq, which) ? [key] : []));
    engine
      .act({ act: 'markRead', persona: address, keys }, stop.signal)
      .catch((error: unknown) => log.warn(`${persona.id}: mail is not marked as read: ${String(error)}`));
    return keys.length;
  }

  async function reply({ address }: Pick<Persona, 'address'>, { text, message }: Reply, signal: AbortSignal) {
    const keys = message === null ? {} : { keys: [message] };
    await engine.act({ act: 'reply', persona: address, text, ...keys }, signal);
    return { is: 'accepted', says: `sent: ${id} has it` } as const;
  }

  return {
    id,
    get kind() {
      return engine.title.kind;
    },
    personas: (signal) => engine.list(signal),
    poll: (persona, from, signal) => engine.poll(persona, from, signal),
    isGone: ({ address }) => engine.isGone(address),
    hints: (wake) => engine.hints(wake),
    ...(acts ? { markRead, reply } : {}),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await engine[Symbol.asyncDispose]();
      await ended;
    },
  };
}

function isSelected(seq: number, which: MarkReadSelection): boolean {
  if (which === 'all') return true;
  return 'upTo' in which ? seq <= which.upTo : which.includes(seq);
}
