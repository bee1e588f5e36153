import { Fault } from '../../core/model/index.ts';
import type { StatusWire } from '../status/index.ts';

/**
 * The status JSON that this program's own tray process served, so the schema number is all there is to doubt.
 * @throws Fault `shape` when it is another
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
