import type { Agent, BoxLook } from '../../../core/sources/garden/index.ts';
import { aligned, complainOf, type Ground, labelOf, sayIfNowhere, sayJson } from './ground.ts';
import { unreadIn, type View, viewOf } from './view.ts';

/** What waits for whom, and whether they live. */
export async function showStatus(ground: Ground): Promise<number> {
  const { io } = ground;
  const view = await viewOf(ground);
  const diagnostics = [...view.defects, ...view.strays];
  const unread = view.citizens.reduce((sum, { box }) => sum + (unreadIn(box) ?? 0), 0);
  const citizens = citizensIn(view);
  if (ground.asJson) {
    sayJson(ground, { unread, citizens, diagnostics });
    return 0;
  }
  io.out(`${unread} unread, ${citizens.length} ${citizens.length === 1 ? 'citizen' : 'citizens'}\n`);
  const rows = citizens.map((one) => [
    ...[one.unread, one.fresh, one.delivered, one.read].map((count) => (count === null ? '?' : `${count}`)),
    ...[agentText({ is: one.agent, reasons: one.agentReasons }), one.gardenId, labelOf(one)],
  ]);
  const head = ['UNREAD', 'FRESH', 'RUNG', 'READ', 'AGENT', 'ID', 'CITIZEN'];
  if (rows.length > 0) io.out(`\n${aligned([head, ...rows], [0, 1, 2, 3])}`);
  sayIfNowhere(ground);
  complainOf(ground, diagnostics);
  return 0;
}

/** `unknown: not-armed` */
export function agentText({ is, reasons }: Agent): string {
  return reasons.length === 0 ? is : `${is}: ${reasons.join(', ')}`;
}

function citizensIn({ citizens, agents }: View) {
  return citizens.map(({ record, box, receipt }) => {
    const { gardenId, backend, nativeSessionId, cwd } = record;
    const agent = agents.get(gardenId) ?? { is: 'unknown' as const, reasons: [] };
    const { lastEnqueuedAt = null, lastDeliveredAt = null, lastReadAt = null } = receipt ?? {};
    return {
      ...{ gardenId, backend, nativeSessionId, cwd, unread: unreadIn(box), ...stagesIn(box) },
      ...{ agent: agent.is, agentReasons: agent.reasons, lastEnqueuedAt, lastDeliveredAt, lastReadAt },
    };
  });
}

function stagesIn(box: BoxLook) {
  if (box.is === 'refused') return { fresh: null, delivered: null, read: null };
  const { unread, messages } = box.is === 'box' ? box : { unread: [], messages: [] };
  return {
    fresh: unread.filter(({ stage }) => stage === 'fresh').length,
    delivered: unread.filter(({ stage }) => stage === 'delivered').length,
    read: messages.filter(({ stage }) => stage === 'read').length,
  };
}
