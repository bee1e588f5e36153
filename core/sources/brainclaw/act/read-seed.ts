import type { Log } from '../../../ports/index.ts';
import { parseSeed, type Seed } from '../read/index.ts';
import type { ActionClient } from './client.ts';
import { BOARD_SUMMARY } from './tool-call.ts';

/**
 * Asks brainclaw once for what the journal cannot say (brainclaw contract 9). Null when there was no answer; the log says why.
 * Never rejects.
 */
export async function readSeed(
  client: ActionClient,
  root: string,
  log: Log,
  signal: AbortSignal,
): Promise<Seed | null> {
  try {
    const { structured } = await client.call(BOARD_SUMMARY, signal);
    const seed = parseSeed(structured);
    if (seed === null)
      log.warn(`brainclaw mcp in ${root} gives a board_summary without a number: nothing is taken from it`);
    return seed;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    log.warn(`the board of ${root} is shown without what brainclaw could add: ${why}`);
    return null;
  }
}
