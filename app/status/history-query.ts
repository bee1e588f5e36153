import { HttpRefusal } from './problem.ts';

/** The limits of one whole number in a query, in the form that `openapi.json` shows. */
export interface WholeSchema {
  readonly type: 'integer';
  readonly minimum: number;
  readonly maximum: number;
  readonly default: number;
  readonly description: string;
}

/** For `GET /api/v1/history` and `GET /api/v1/personas/ID/history`. */
export const HOURS: WholeSchema = {
  type: 'integer',
  minimum: 1,
  maximum: 24 * 366,
  default: 24,
  description: 'So many hours back from now, and no further than history is kept.',
};

/** For `GET /api/v1/alerts`. */
export const LIMIT: WholeSchema = {
  type: 'integer',
  minimum: 1,
  maximum: 1000,
  default: 100,
  description: 'So many alerts at most.',
};

/**
 * Parses the only parameter that these routes have.
 * @throws Refusal 400 when it does not fit the schema, is given twice, or comes with another parameter
 */
export function parseWholeParam(url: string, name: string, schema: WholeSchema): number {
  const at = url.indexOf('?');
  const params = new URLSearchParams(at < 0 ? '' : url.slice(at));
  for (const key of params.keys()) {
    if (key !== name) throw refuse(`there is no parameter ${quote(key)}`, `use ${name}, or nothing`);
  }
  const values = params.getAll(name);
  const [text] = values;
  if (text === undefined) return schema.default;
  const within = `give ${name} once, a whole number from ${schema.minimum} to ${schema.maximum}`;
  if (values.length > 1) throw refuse(`${name} is given ${values.length} times`, within);
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= schema.minimum && value <= schema.maximum) return value;
  throw refuse(`${name} is ${quote(text)}`, within);
}

function refuse(message: string, next: string): HttpRefusal {
  return new HttpRefusal(400, 'usage', message, next);
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
