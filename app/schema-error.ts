import type { ErrorObject } from 'ajv';

/** Longer values are cut: they may be anything. */
const MOST_CHARS = 100;

/**
 * What does not fit a schema, with the value that does not: `body.max must be >= 1, not 0`. Needs errors of an Ajv that is
 * `verbose`.
 * @param root what the whole value is called
 */
export function formatSchemaErrors(errors: readonly ErrorObject[] | null | undefined, root: string): string {
  return (errors ?? []).map((error) => formatError(error, root)).join('; ');
}

function formatError(
  { keyword, instancePath, params, message = 'does not fit', data }: ErrorObject,
  root: string,
): string {
  const where = root + instancePath.replaceAll('/', '.');
  switch (keyword) {
    case 'additionalProperties':
      return `${where} has the unknown field ${formatValue(params.additionalProperty)}`;
    case 'required':
      return `${where} has no ${formatValue(params.missingProperty)}`;
    case 'enum':
      return `${where} must be one of ${(params.allowedValues as unknown[]).join(', ')}, not ${formatValue(data)}`;
    default:
      return `${where} ${message}, not ${formatValue(data)}`;
  }
}

function formatValue(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS)}...` : text;
}
