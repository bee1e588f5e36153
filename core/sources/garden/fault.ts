import { Fault } from '../../model/index.ts';

/**
 * A Fault for a file or a request that breaks the rules of a garden store. `about` is the garden id, file or directory concerned.
 */
export function createGardenFault(message: string, about: string, options?: ErrorOptions): Fault {
  return new Fault('garden', message, { is: 'source', key: `garden:${about}` }, options);
}
