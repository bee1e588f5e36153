import { Ajv2020 } from 'ajv/dist/2020.js';
import type { XStatic } from 'typebox/schema';
import { Fault } from '../../core/model/index.ts';
import { formatSchemaErrors } from '../schema-error.ts';

/**
 * What a person or script may do, defined once for menu entry, banner button, route `POST /api/v1/actions/NAME` and CLI. The
 * result is JSON.
 */
export interface Action {
  readonly name: string;
  readonly title: string;
  /** A JSON Schema. */
  readonly params: object;
  readonly asks: 'nothing' | 'token';
  /** @throws Fault `usage` when the params do not fit the schema. */
  run(params: unknown, signal: AbortSignal): Promise<unknown>;
}

export type Actions = ReadonlyMap<string, Action>;

const ajv = new Ajv2020({ strict: true, verbose: true });

/** Defines an action whose `run` only sees params that fit its schema. */
export function defineAction<const P extends object>(definition: {
  readonly name: string;
  readonly title: string;
  readonly params: P;
  readonly asks: Action['asks'];
  run(params: XStatic<P>, signal: AbortSignal): Promise<unknown>;
}): Action {
  const fits = ajv.compile<XStatic<P>>(definition.params);
  return {
    ...definition,
    async run(params, signal) {
      if (fits(params)) return await definition.run(params, signal);
      const why = formatSchemaErrors(fits.errors, 'params');
      throw new Fault('usage', `action ${definition.name}: ${why}`, { is: 'machine', key: 'action' });
    },
  };
}
