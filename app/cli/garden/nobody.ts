import { Fault } from '../../../core/model/index.ts';
import { type MetaRecord, readRecord } from '../../../core/sources/garden/index.ts';
import { complain, type Ground } from './ground.ts';

/** The citizen of a box; null when it has none, which is said: what is in the box is there all the same. */
export function noteIfNobody(ground: Ground, gardenId: string): MetaRecord | null {
  try {
    return readRecord(ground.hand.disk, ground.places.sessions, gardenId);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'garden') throw error;
    complain(ground, error.message);
    return null;
  }
}
