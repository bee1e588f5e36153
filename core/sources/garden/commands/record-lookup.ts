import { Fault } from '../../../model/index.ts';
import { type MetaRecord, readRecord } from '../index.ts';
import { complain, type GardenContext } from './garden-context.ts';

/** Finds the citizen of a box. Null: there is none, which is reported; the contents of the box exist all the same. */
export function findRecordOrReport(context: GardenContext, gardenId: string): MetaRecord | null {
  try {
    return readRecord(context.hand.disk, context.places.sessions, gardenId);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'garden') throw error;
    complain(context, error.message);
    return null;
  }
}
