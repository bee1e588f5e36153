import type { AgentLiveness, BoxState } from '../index.ts';
import {
  formatLabel,
  formatTable,
  type GardenContext,
  printJson,
  reportDefects,
  reportMissingStore,
} from './garden-context.ts';
import { countUnread, type GardenView, loadView } from './view.ts';

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
export function formatAgent({ is, reasons }: AgentLiveness): string {
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
