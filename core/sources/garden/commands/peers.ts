import { type AgentLiveness, CAPABILITIES, type MetaRecord, toCitizenIdentity } from '../index.ts';
import {
  formatLabel,
  formatTable,
  type GardenContext,
  printJson,
  reportDefects,
  reportMissingStore,
} from './garden-context.ts';
import { formatAgent } from './status.ts';
import { loadView } from './view.ts';

/** Prints the citizens that can get mail, and the flag that sending to each needs. */
export async function showPeers(context: GardenContext): Promise<number> {
  const { io } = context;
  const { citizens, agents, defects } = await loadView(context);
  const peers = citizens.map(({ record }) => {
    const { gardenId, backend, nativeSessionId, cwd, model } = toCitizenIdentity(record);
    const agent = agents.get(gardenId) ?? { is: 'unknown' as const, reasons: [] };
    const { wakeMode, deliveryLevel } = CAPABILITIES[backend];
    return {
      ...{ gardenId, backend, nativeSessionId, cwd, model, wakeMode, deliveryLevel },
      ...{ agent: agent.is, agentReasons: agent.reasons, send: findSendMode(record, agent) },
    };
  });
  if (context.asJson) {
    printJson(context, { peers, defects });
    return 0;
  }
  const rows = peers.map((peer) => [
    formatAgent({ is: peer.agent, reasons: peer.agentReasons }),
    ...[SENDING[peer.send], peer.wakeMode, peer.gardenId, formatLabel(peer)],
  ]);
  if (rows.length > 0) io.out(formatTable([['AGENT', 'SEND', 'WAKE', 'ID', 'CITIZEN'], ...rows]));
  else io.out('no citizens\n');
  reportMissingStore(context);
  reportDefects(context, defects);
  return 0;
}

const SENDING = { now: 'now', queue: '--queue', force: '--force' } as const;

/** Returns the flag that `mail send` needs. */
function findSendMode({ backend }: MetaRecord, { is }: AgentLiveness): keyof typeof SENDING {
  if (CAPABILITIES[backend].wakeMode === 'direct-inject') return 'force';
  return is === 'live' ? 'now' : 'queue';
}
