import type { Static, TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { Fault } from '../../core/model/index.ts';

/**
 * What a person or script may do, once for every way of doing it: menu entry, banner button, route
 * `POST /api/v1/actions/NAME` and CLI alike. The result is JSON.
 */
export interface Action {
  readonly name: string;
  readonly title: string;
  readonly params: TSchema;
  readonly asks: 'nothing' | 'token';
  /** @throws Fault `usage` when the params do not fit the schema. */
  run(params: unknown, signal: AbortSignal): Promise<unknown>;
}

export type Actions = ReadonlyMap<string, Action>;

/** An action whose `run` sees only params that fit its schema. */
export function action<P extends TSchema>(of: {
  readonly name: string;
  readonly title: string;
  readonly params: P;
  readonly asks: Action['asks'];
  run(params: Static<P>, signal: AbortSignal): Promise<unknown>;
}): Action {
  return {
    ...of,
    async run(params, signal) {
      if (Value.Check(of.params, params)) return await of.run(params, signal);
      const first = Value.Errors(of.params, params)[0];
      const where = first?.instancePath === '' || first === undefined ? 'params' : first.instancePath;
      throw new Fault('usage', `action ${of.name}: ${where} ${first?.message ?? 'do not fit'}`, {
        is: 'machine',
        key: 'action',
      });
    },
  };
}
