import { join } from 'node:path';
import { displayName } from '../../../format/index.ts';
import { type AgentInbox, type AgentMessage, createAgentMailReader, isActionable, toInboxName } from '../index.ts';
import type { BrainclawArgs } from './args.ts';
import { type BrainclawContext, complain, formatTable, printJson } from './brainclaw-context.ts';

/** Prints the messages that wait for one agent or for all. Reading them here marks nothing (brainclaw contract 5). */
export function showInbox({ words }: BrainclawArgs, context: BrainclawContext): number {
  const { io, disk, project } = context;
  const agent = words[0] === undefined ? undefined : toInboxName(words[0]);
  const directory = join(project.store, 'coordination', 'inbox');
  const showsText = context.asJson || agent !== undefined;
  const mail = createAgentMailReader(disk.files, directory, (text) => (showsText ? text : '')).read();
  const inboxes = [...(mail?.values() ?? [])].filter((inbox) => agent === undefined || inbox.agent === agent);
  if (agent !== undefined && inboxes.length === 0) {
    const known = [...(mail?.keys() ?? [])].join(', ') || 'nobody';
    complain(context, `${agent} has no inbox in ${directory}: there are those of ${known}`);
    return 1;
  }
  if (context.asJson) {
    printJson(context, {
      project: project.id,
      agents: Object.fromEntries(inboxes.map((inbox) => [inbox.agent, toInboxWire(inbox)])),
    });
    return 0;
  }
  if (mail === null) complain(context, `there is no mail yet: no ${directory}`);
  const head = ['AGENT', 'PENDING', 'ACTIONABLE', 'MESSAGES', 'SKIPPED'];
  const rows = inboxes.map((inbox) => [
    ...[inbox.agent, `${inbox.pending}`, `${inbox.actionable}`, `${inbox.messages.length}`, `${inbox.bad.length}`],
  ]);
  if (agent === undefined && rows.length > 0) io.out(formatTable([head, ...rows]));
  for (const { messages, bad } of inboxes) {
    if (agent !== undefined) for (const message of messages) showMessage(context, message);
    for (const { name, why } of bad) complain(context, `${name} is no message: it ${why}`);
  }
  if (agent !== undefined) io.out(`${inboxes[0]?.pending} pending, ${inboxes[0]?.actionable} actionable\n`);
  return 0;
}

function toInboxWire({ messages, pending, actionable, bad }: AgentInbox) {
  const listed = messages.map((message) => ({ ...message, actionable: isActionable(message) }));
  return { pending, actionable, skipped: bad.length, messages: listed, bad };
}

function showMessage({ io }: BrainclawContext, message: AgentMessage): void {
  const { id, type, status, from, created_at, ref, text } = message;
  const todo = isActionable(message) ? '*' : ' ';
  const about = [id, type, status, `from ${from}`, created_at, ...(ref === null ? [] : [ref])];
  io.out(`${todo} ${displayName(about.join('  '))}\n`);
  for (const line of text.replace(/\r?\n$/, '').split(/\r?\n/)) io.out(`    ${displayName(line)}\n`);
}
