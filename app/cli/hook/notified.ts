import { join } from 'node:path';
import { notifiedTurn } from '../../../core/hooks/index.ts';
import { Fault } from '../../../core/model/index.ts';
import type { Log } from '../../../core/ports/index.ts';
import { openDatabase, ownDirs } from '../../../core/state/index.ts';
import { noteActivity } from '../../hook/index.ts';
import { keptSessions } from '../../open/index.ts';
import type { Io } from '../command.ts';
import { DATABASE } from '../with-hive.ts';
import { personaKept, personaSaid } from './whose.ts';

const BUSY_MS = 250;

/** A harness told that a turn is over, and waits for no answer: the agent is idle from now on. @throws Fault */
export function notified(text: string, flag: string | null, env: Io['env'], log: Log): void {
  const turn = notifiedTurn(text);
  if (turn instanceof Fault) throw turn;
  if (turn === null) return;
  const { state, run, config } = ownDirs({ ...env });
  const said = personaSaid(turn, env, flag);
  if (said !== null) {
    noteActivity(run, said, turn.event);
    return;
  }
  using db = openDatabase(join(state, DATABASE), BUSY_MS);
  const known = personaKept(turn, keptSessions(db), config);
  if (known.is === 'known') noteActivity(run, known.persona, turn.event);
  if (known.is === 'ambiguous')
    log.warn(`several personas work in ${turn.cwd}: ${known.personas.join(', ')}; set HIVEBAR_PERSONA`);
}
