import { type Event, toMailEventId, toWakeClass } from '../../core/events/index.ts';
import { formatIso, toFault } from '../../core/model/index.ts';
import { silentLog } from '../../core/ports/index.ts';
import type { Evidence, Persona, Source } from '../../core/sources/index.ts';
import type { WatchPlan } from '../config/watch/index.ts';
import type { Machine } from '../host/machine.ts';
import { createWatchSinks } from './watch-sinks.ts';

/**
 * Runs `--self-test` (Kijito spec 7.2): for each persona one real peek, and one synthetic event through the real sink. There is
 * no lock, no state and no event file: events go to stdout even where a file is configured. Returns true when all of it worked.
 */
export async function runSelfTest(
  plan: WatchPlan,
  source: Source,
  personas: readonly Persona[],
  machine: Machine,
): Promise<boolean> {
  const emit = plan.emit.is === 'exec' ? plan.emit : ({ is: 'stdout' } as const);
  // The verdict contains what a sink would log.
  await using sinks = createWatchSinks({ ...plan, emit }, { ...machine, log: silentLog }, personas);
  const peek = async (persona: Persona, label: string): Promise<{ ok: boolean; text: string }> => {
    try {
      const { evidence } = await source.poll(persona, { is: 'unset' }, machine.stop);
      return { ok: true, text: `reachable, ${formatEvidence(evidence)}` };
    } catch (error) {
      return { ok: false, text: toFault(error, { is: 'persona', key: label }).explain() };
    }
  };
  let passed = true;
  for (const persona of personas) {
    const label = persona.address === '' ? persona.label : persona.id;
    const fetched = await peek(persona, label);
    machine.log.info(`self-test ${label}: fetch ${fetched.ok ? 'ok' : 'FAILED'}: ${fetched.text}`);
    const sink = sinks.getSink(persona);
    const ack = await sink.take([createSyntheticEvent(persona, source, machine)], null, machine.stop);
    const emitted = ack.is === 'all' ? 'ok' : `FAILED: ${ack.fault.explain()}`;
    machine.log.info(`self-test ${label}: emit ${emitted}`);
    await sink[Symbol.asyncDispose]();
    passed = passed && fetched.ok && ack.is === 'all';
  }
  return passed;
}

function createSyntheticEvent(persona: Persona, source: Source, machine: Machine): Event {
  const at = formatIso(machine.clock.now());
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
    event_id: toMailEventId(name, 0),
    wake_class: toWakeClass('new'),
  };
}

function formatEvidence(evidence: Evidence): string {
  switch (evidence.is) {
    case 'log':
      return `newest message ${evidence.max}`;
    case 'set':
      return `${evidence.items.length} things`;
    case 'level':
      return 'counts only';
  }
}
