import { type Event, newEventId, wakeClassOf } from '../../core/events/index.ts';
import { faultOf, isoOf } from '../../core/model/index.ts';
import { silentLog } from '../../core/ports/index.ts';
import type { Evidence, Persona, Source } from '../../core/sources/index.ts';
import type { WatchPlan } from '../config/watch/index.ts';
import type { Machine } from './machine.ts';
import { watchSinks } from './watch-sinks.ts';

/**
 * `--self-test` (Kijito spec 7.2): per persona one real peek and one synthetic event through the real way out. No lock,
 * no state, no event file: events go to stdout even where a file is configured. True when all of it worked.
 */
export async function selfTest(
  plan: WatchPlan,
  source: Source,
  personas: readonly Persona[],
  machine: Machine,
): Promise<boolean> {
  const emit = plan.emit.is === 'exec' ? plan.emit : ({ is: 'stdout' } as const);
  // What a sink would say of itself is in the verdict.
  await using sinks = watchSinks({ ...plan, emit }, { ...machine, log: silentLog }, personas);
  const peek = async (persona: Persona, who: string): Promise<{ ok: boolean; text: string }> => {
    try {
      const { evidence } = await source.look(persona, { is: 'unset' }, machine.stop);
      return { ok: true, text: `reachable, ${wordsOf(evidence)}` };
    } catch (error) {
      return { ok: false, text: faultOf(error, { is: 'persona', key: who }).explain() };
    }
  };
  let passed = true;
  for (const persona of personas) {
    const who = persona.address === '' ? persona.label : persona.id;
    const fetched = await peek(persona, who);
    machine.log.info(`self-test ${who}: fetch ${fetched.ok ? 'ok' : 'FAILED'}: ${fetched.text}`);
    const sink = sinks.of(persona);
    const taken = await sink.take([synthetic(persona, source, machine)], null, machine.stop);
    const emitted = taken.is === 'all' ? 'ok' : `FAILED: ${taken.fault.explain()}`;
    machine.log.info(`self-test ${who}: emit ${emitted}`);
    await sink[Symbol.asyncDispose]();
    passed = passed && fetched.ok && taken.is === 'all';
  }
  return passed;
}

function synthetic(persona: Persona, source: Source, machine: Machine): Event {
  const at = isoOf(machine.clock.now());
  const name = persona.address === '' ? null : persona.id;
  return {
    event: 'new',
    source: source.kind,
    ts: at,
    id: 0,
    from: 'self-test',
    created: at,
    ...(name === null ? {} : { persona: name }),
    content: 'synthetic emit OK',
    event_id: newEventId(name, 0),
    wake_class: wakeClassOf('new'),
  };
}

function wordsOf(evidence: Evidence): string {
  switch (evidence.is) {
    case 'log':
      return `newest message ${evidence.max}`;
    case 'set':
      return `${evidence.items.length} things`;
    case 'level':
      return 'counts only';
  }
}
