import { Fault } from '../../core/model/index.ts';
import type { StatusWire } from '../status/index.ts';

/**
 * Parses the status JSON. This program's own tray process served it, so only the schema number needs a check.
 * @throws Fault `shape` when the number differs
 */
export function parseStatus(body: string): StatusWire {
  const value: unknown = JSON.parse(body);
  if (typeof value === 'object' && value !== null && 'schema' in value && value.schema === 1)
    return value as StatusWire;
  throw new Fault('shape', 'the running program speaks another version: stop it and start this one', {
    is: 'machine',
    key: 'tray',
  });
}
