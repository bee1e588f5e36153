import type { Io } from '../../../command/index.ts';
import { Fault } from '../../../model/index.ts';
import type { CommandHost } from '../../module.ts';
import { type GardenArgs, parseGardenArgs } from './args.ts';
import { examine, listPrunable } from './doctor.ts';
import { complain, createContext, type GardenContext } from './garden-context.ts';
import { peekMail, readMail, sendMail, showReceipt } from './mail.ts';
import { showMarkers, writeMarker } from './markers.ts';
import { getRecord, listCitizens, printNewId, scanRecords, upsertRecord } from './record.ts';
import { showPeers, showStatus } from './status.ts';

/**
 * Runs one verb of `hivebar garden`. A violation of the store's rules is reported in the words of entwurf's library, which
 * people and scripts know, with nothing added (garden contract 7, check 5).
 * @throws Fault `usage`, or a Fault about the disk
 */
export async function runGarden(args: readonly string[], io: Io, host: CommandHost): Promise<number> {
  const options = parseGardenArgs(args);
  const context = createContext(options, io, host);
  try {
    return await run(options, context);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'garden') throw error;
    complain(context, error.message);
    return 1;
  }
}

async function run(options: GardenArgs, context: GardenContext): Promise<number> {
  switch (options.verb) {
    case 'record upsert':
      return upsertRecord(options, context);
    case 'record get':
      return getRecord(options, context);
    case 'record list':
      return listCitizens(options, context);
    case 'record scan':
      return scanRecords(options, context);
    case 'mail send':
      return await sendMail(options, context);
    case 'mail peek':
      return peekMail(options, context);
    case 'mail read':
      return await readMail(options, context);
    case 'receipt show':
      return showReceipt(options, context);
    case 'peers':
      return await showPeers(context);
    case 'marker write':
      return await writeMarker(options, context);
    case 'marker show':
      return await showMarkers(options, context);
    case 'doctor':
      return await examine(options, context);
    case 'status':
      return await showStatus(context);
    case 'prune':
      return await listPrunable(context);
    case 'id new':
      return printNewId(context);
  }
}
