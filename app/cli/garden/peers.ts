import { type Agent, CAPABILITIES, identityOf, type MetaRecord } from '../../../core/sources/garden/index.ts';
import { aligned, complainOf, type Ground, labelOf, sayIfNowhere, sayJson } from './ground.ts';
import { agentText } from './status.ts';
import { viewOf } from './view.ts';

/** Who can be written to, and what it takes. */
export async function showPeers(ground: Ground): Promise<number> {
  const { io } = ground;
  const { citizens, agents, defects } = await viewOf(ground);
  const peers = citizens.map(({ record }) => {
    const { gardenId, backend, nativeSessionId, cwd, model } = identityOf(record);
    const agent = agents.get(gardenId) ?? { is: 'unknown' as const, reasons: [] };
    const { wakeMode, deliveryLevel } = CAPABILITIES[backend];
    return {
      ...{ gardenId, backend, nativeSessionId, cwd, model, wakeMode, deliveryLevel },
      ...{ agent: agent.is, agentReasons: agent.reasons, send: sendingTo(record, agent) },
    };
  });
  if (ground.asJson) {
    sayJson(ground, { peers, defects });
    return 0;
  }
  const rows = peers.map((one) => [
    agentText({ is: one.agent, reasons: one.agentReasons }),
    ...[SENDING[one.send], one.wakeMode, one.gardenId, labelOf(one)],
  ]);
  if (rows.length > 0) io.out(aligned([['AGENT', 'SEND', 'WAKE', 'ID', 'CITIZEN'], ...rows]));
  else io.out('no citizens\n');
  sayIfNowhere(ground);
  complainOf(ground, defects);
  return 0;
}

const SENDING = { now: 'now', queue: '--queue', force: '--force' } as const;

/** What `mail send` asks for. */
function sendingTo({ backend }: MetaRecord, { is }: Agent): keyof typeof SENDING {
  if (CAPABILITIES[backend].wakeMode === 'direct-inject') return 'force';
  return is === 'live' ? 'now' : 'queue';
}
