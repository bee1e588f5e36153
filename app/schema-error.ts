import type { ErrorObject } from 'ajv';

/** Longer values are cut, because a value may be anything. */
const MOST_CHARS = 100;

/**
 * Says what does not fit a schema, with the value: `body.max must be >= 1, not 0`. Needs the errors of an Ajv that is `verbose`.
 * @param root the name for the whole value
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
