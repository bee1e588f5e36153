import { Fault } from '../../../core/model/index.ts';
import type { Io } from '../command.ts';
import { type GardenArgs, gardenArgs } from './args.ts';
import { examine } from './doctor.ts';
import { complain, type Ground, groundOf } from './ground.ts';
import { peekMail, readMail, sendMail } from './mail.ts';
import { showMarkers, writeMarker } from './marker.ts';
import { showPeers } from './peers.ts';
import { listPrunable } from './prune.ts';
import { showReceipt } from './receipt.ts';
import { getRecord, listCitizens, newId, scanRecords, upsertRecord } from './record.ts';
import { showStatus } from './status.ts';

/**
 * What breaks the rules of a store is said in the words of the library, which people and scripts know, and nothing behind
 * them (garden contract 7, check 5).
 * @throws Fault `usage`, or what is about the disk
 */
export async function runGarden(args: readonly string[], io: Io): Promise<number> {
  const asked = gardenArgs(args);
  const ground = groundOf(asked, io);
  try {
    return await run(asked, ground);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'garden') throw error;
    complain(ground, error.message);
    return 1;
  }
}

async function run(asked: GardenArgs, ground: Ground): Promise<number> {
  switch (asked.verb) {
    case 'record upsert':
      return upsertRecord(asked, ground);
    case 'record get':
      return getRecord(asked, ground);
    case 'record list':
      return listCitizens(asked, ground);
    case 'record scan':
      return scanRecords(asked, ground);
    case 'mail send':
      return await sendMail(asked, ground);
    case 'mail peek':
      return peekMail(asked, ground);
    case 'mail read':
      return await readMail(asked, ground);
    case 'receipt show':
      return showReceipt(asked, ground);
    case 'peers':
      return await showPeers(ground);
    case 'marker write':
      return await writeMarker(asked, ground);
    case 'marker show':
      return await showMarkers(asked, ground);
    case 'doctor':
      return await examine(asked, ground);
    case 'status':
      return await showStatus(ground);
    case 'prune':
      return await listPrunable(ground);
    case 'id new':
      return newId(ground);
  }
}
