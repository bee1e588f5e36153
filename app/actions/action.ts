/**
 * What a person or script may do, once for every way of doing it: menu entry, banner button, route
 * `POST /api/v1/actions/NAME` and CLI alike. `params` is a typebox schema; run's result is JSON.
 */
import type { Static, TSchema } from 'typebox';

export interface Action<P extends TSchema = TSchema, R = unknown> {
  readonly name: string;
  readonly title: string;
  readonly params: P;
  readonly asks: 'nothing' | 'token';
  run(params: Static<P>, signal: AbortSignal): Promise<R>;
}

export type Actions = ReadonlyMap<string, Action>;
