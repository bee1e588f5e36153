import { type AgentLiveness, type BoxState, CAPABILITIES, type MetaRecord, toCitizenIdentity } from '../index.ts';
import {
  formatLabel,
  formatTable,
  type GardenContext,
  printJson,
  reportDefects,
  reportMissingStore,
} from './garden-context.ts';
import { countUnread, type GardenView, loadView } from './record.ts';

/** Prints how many messages wait for each citizen, and whether its agent lives. */
export async function showStatus(context: GardenContext): Promise<number> {
  const { io } = context;
  const view = await loadView(context);
  const diagnostics = [...view.defects, ...view.strays];
  const unread = view.citizens.reduce((sum, { box }) => sum + (countUnread(box) ?? 0), 0);
  const citizens = listCitizens(view);
  if (context.asJson) {
    printJson(context, { unread, citizens, diagnostics });
    return 0;
  }
  io.out(`${unread} unread, ${citizens.length} ${citizens.length === 1 ? 'citizen' : 'citizens'}\n`);
  const rows = citizens.map((citizen) => [
    ...[citizen.unread, citizen.fresh, citizen.delivered, citizen.read].map((count) =>
      count === null ? '?' : `${count}`,
    ),
    ...[formatAgent({ is: citizen.agent, reasons: citizen.agentReasons }), citizen.gardenId, formatLabel(citizen)],
  ]);
  const head = ['UNREAD', 'FRESH', 'RUNG', 'READ', 'AGENT', 'ID', 'CITIZEN'];
  if (rows.length > 0) io.out(`\n${formatTable([head, ...rows], [0, 1, 2, 3])}`);
  reportMissingStore(context);
  reportDefects(context, diagnostics);
  return 0;
}

/** `unknown: not-armed` */
function formatAgent({ is, reasons }: AgentLiveness): string {
  return reasons.length === 0 ? is : `${is}: ${reasons.join(', ')}`;
}

function listCitizens({ citizens, agents }: GardenView) {
  return citizens.map(({ record, box, receipt }) => {
    const { gardenId, backend, nativeSessionId, cwd } = record;
    const agent = agents.get(gardenId) ?? { is: 'unknown' as const, reasons: [] };
    const { lastEnqueuedAt = null, lastDeliveredAt = null, lastReadAt = null } = receipt ?? {};
    return {
      ...{ gardenId, backend, nativeSessionId, cwd, unread: countUnread(box), ...countStages(box) },
      ...{ agent: agent.is, agentReasons: agent.reasons, lastEnqueuedAt, lastDeliveredAt, lastReadAt },
    };
  });
}

function countStages(box: BoxState) {
  if (box.is === 'refused') return { fresh: null, delivered: null, read: null };
  const { unread, messages } = box.is === 'box' ? box : { unread: [], messages: [] };
  return {
    fresh: unread.filter(({ stage }) => stage === 'fresh').length,
    delivered: unread.filter(({ stage }) => stage === 'delivered').length,
    read: messages.filter(({ stage }) => stage === 'read').length,
  };
}

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
