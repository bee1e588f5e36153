import { type Service, untilAborted } from '../../core/services/index.ts';
import type { Outbox } from '../../core/sinks/outbox/index.ts';
import type { Machine } from './machine.node.ts';

/** After this time without an event, the process is at rest. */
const REST_AFTER_MS = 1000;

/** Gives back the memory that a storm of events took, once the storm is over. */
export function createRestService(outbox: Pick<Outbox<never>, 'onDelivered'>, { clock, atRest }: Machine): Service {
  return {
    name: 'memory',
    async run(signal) {
      let timer = clock.after(REST_AFTER_MS, atRest);
      using _ = outbox.onDelivered(() => {
        timer[Symbol.dispose]();
        timer = clock.after(REST_AFTER_MS, atRest);
      });
      await untilAborted(signal);
      timer[Symbol.dispose]();
    },
  };
}
