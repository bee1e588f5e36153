import { Fault } from '../../model/index.ts';

/** A file or a wish that breaks the rules of a garden store. `about` is the garden id, file or directory it is about. */
export function createGardenFault(message: string, about: string, options?: ErrorOptions): Fault {
  return new Fault('garden', message, { is: 'source', key: `garden:${about}` }, options);
}
