import { join } from 'node:path';
import {
  type AgentInbox,
  type AgentMessage,
  inboxNameOf,
  isActionable,
  keepAgentMail,
} from '../../../core/sources/brainclaw/index.ts';
import { printable } from '../../printable.ts';
import type { BrainclawArgs } from './args.ts';
import { aligned, complain, type Ground, sayJson } from './ground.ts';

/** What waits for an agent, or for all of them. Reading it here marks nothing (brainclaw contract 5). */
export function showInbox({ words }: BrainclawArgs, ground: Ground): number {
  const { io, disk, project } = ground;
  const agent = words[0] === undefined ? undefined : inboxNameOf(words[0]);
  const directory = join(project.store, 'coordination', 'inbox');
  const showsText = ground.asJson || agent !== undefined;
  const all = keepAgentMail(disk.files, directory, (text) => (showsText ? text : '')).look();
  const inboxes = [...(all?.values() ?? [])].filter((inbox) => agent === undefined || inbox.agent === agent);
  if (agent !== undefined && inboxes.length === 0) {
    const known = [...(all?.keys() ?? [])].join(', ') || 'nobody';
    complain(ground, `${agent} has no inbox in ${directory}: there are those of ${known}`);
    return 1;
  }
  if (ground.asJson) {
    sayJson(ground, {
      project: project.id,
      agents: Object.fromEntries(inboxes.map((one) => [one.agent, wireOf(one)])),
    });
    return 0;
  }
  if (all === null) complain(ground, `there is no mail yet: no ${directory}`);
  const head = ['AGENT', 'PENDING', 'ACTIONABLE', 'MESSAGES', 'SKIPPED'];
  const rows = inboxes.map((one) => [
    ...[one.agent, `${one.pending}`, `${one.actionable}`, `${one.messages.length}`, `${one.bad.length}`],
  ]);
  if (agent === undefined && rows.length > 0) io.out(aligned([head, ...rows]));
  for (const { messages, bad } of inboxes) {
    if (agent !== undefined) for (const message of messages) showMessage(ground, message);
    for (const { name, why } of bad) complain(ground, `${name} is no message: it ${why}`);
  }
  if (agent !== undefined) io.out(`${inboxes[0]?.pending} pending, ${inboxes[0]?.actionable} actionable\n`);
  return 0;
}

function wireOf({ messages, pending, actionable, bad }: AgentInbox) {
  const all = messages.map((message) => ({ ...message, actionable: isActionable(message) }));
  return { pending, actionable, skipped: bad.length, messages: all, bad };
}

function showMessage({ io }: Ground, message: AgentMessage): void {
  const { id, type, status, from, created_at, ref, text } = message;
  const todo = isActionable(message) ? '*' : ' ';
  const about = [id, type, status, `from ${from}`, created_at, ...(ref === null ? [] : [ref])];
  io.out(`${todo} ${printable(about.join('  '))}\n`);
  for (const line of text.replace(/\r?\n$/, '').split(/\r?\n/)) io.out(`    ${printable(line)}\n`);
}
