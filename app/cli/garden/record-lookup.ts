import { Fault } from '../../../core/model/index.ts';
import { type MetaRecord, readRecord } from '../../../core/sources/garden/index.ts';
import { complain, type GardenContext } from './garden-context.ts';

/** The citizen of a box; null when it has none, which is said: what is in the box is there all the same. */
export function findRecordOrReport(context: GardenContext, gardenId: string): MetaRecord | null {
  try {
    return readRecord(context.hand.disk, context.places.sessions, gardenId);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'garden') throw error;
    complain(context, error.message);
    return null;
  }
}
