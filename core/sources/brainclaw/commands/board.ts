import { join } from 'node:path';
import { displayName } from '../../../format/index.ts';
import {
  type AgentInbox,
  type AgentMessage,
  type AttentionItem,
  type BoardSummary,
  countAttention,
  createAgentMailReader,
  findAttentionItems,
  findRemarks,
  getStatus,
  isActionable,
  type JournalView,
  MOST_ACTIVITY,
  type ProjectSheet,
  type ProjectSheetRow,
  type ProjectSheetSection,
  type Remark,
  toBoardSummary,
  toInboxName,
  toProjectSheet,
} from '../index.ts';
import { type BrainclawArgs, parseWholeNumber } from './args.ts';
import {
  type BrainclawContext,
  complain,
  formatTable,
  loadView,
  NOT_KNOWN,
  printJson,
  printRemarks,
} from './brainclaw-context.ts';

/** The board of a project, with the keys of the reference (brainclaw contract 9). */
interface BoardJson extends BoardSummary {
  readonly applied: number;
  readonly cursor: { readonly seq: number; readonly checkpoint_seq: number };
  readonly affectedTypes: readonly string[];
  readonly remarks: readonly Remark[];
}

/** Prints the items that ask for attention, then the rest of the board. */
export function showBoard(options: BrainclawArgs, context: BrainclawContext): number {
  const view = loadView(context, options);
  if (view === null) return NOT_KNOWN;
  if (context.asJson) {
    printJson(context, toBoardJson(view));
    return 0;
  }
  const inbox = join(context.project.store, 'coordination', 'inbox');
  const mail = createAgentMailReader(context.disk.files, inbox, () => '').read();
  context.io.out(formatBoard(context.project.id, toProjectSheet({ view, mail, seed: null })));
  return 0;
}

function toBoardJson(view: JournalView): BoardJson {
  const { replay, base } = view;
  return {
    applied: replay.applied,
    cursor: { seq: replay.cursor?.seq ?? 0, checkpoint_seq: base?.seq ?? 0 },
    affectedTypes: [...replay.affectedTypes].sort(),
    ...toBoardSummary(replay.projection),
    remarks: findRemarks(view),
  };
}

function formatBoard(id: string, { remarks, seq, attention, counts, agents, sections }: ProjectSheet): string {
  const numbers = Object.entries(counts).map(([name, count]) => `${name} ${formatCount(count)}`);
  const first = sections.toSorted((a, b) => Number(b.id === 'attention') - Number(a.id === 'attention'));
  return [
    `${displayName(id)}  attention ${formatCount(attention?.total ?? null)}, at record ${formatCount(seq)}\n`,
    ...(remarks.length === 0 ? [] : [`${remarks.join(', ')}\n`]),
    `${numbers.join(', ')}\n`,
    ...first.map(formatSection),
    ...(agents.length === 0 ? [] : [`\nagents\n${formatTable(formatAgentRows(agents))}`]),
  ].join('');
}

function formatSection({ id, total, rows, rest }: ProjectSheetSection): string {
  if (total === 0) return '';
  return `\n${id} ${total}\n${formatTable(rows.map(formatCells))}${rest > 0 ? `  and ${rest} more\n` : ''}`;
}

function formatCells({ id, itemType, status, agent, seq, why, title }: ProjectSheetRow): readonly string[] {
  const cells = [id ?? itemType, why ?? status, agent ?? '-', `${seq ?? '-'}`, title];
  return cells.map((cell, column) => `${column === 0 ? '  ' : ''}${displayName(cell)}`);
}

function formatAgentRows(agents: ProjectSheet['agents']): readonly (readonly string[])[] {
  const head = ['  AGENT', 'PENDING', 'ACTIONABLE', 'HANDOFFS', 'ASSIGNMENTS', 'ACTIONS', 'SKIPPED'];
  const rows = agents.map((entry) => [
    `  ${displayName(entry.agent)}`,
    ...[entry.pending, entry.actionable, entry.open_handoffs, entry.assignments, entry.actions, entry.skipped].map(
      formatCount,
    ),
  ]);
  return [head, ...rows];
}

/** An unknown count is not shown as 0. */
const formatCount = (count: number | null): string => (count === null ? '?' : `${count}`);

/** Prints the items that ask for a person, and why. */
export function showAttention(options: BrainclawArgs, context: BrainclawContext): number {
  const view = loadView(context, options);
  if (view === null) return NOT_KNOWN;
  const { projection } = view.replay;
  if (context.asJson) {
    const items = findAttentionItems(projection).map(toAttentionWire);
    printJson(context, { attention_required: countAttention(projection), items, remarks: findRemarks(view) });
    return 0;
  }
  const rows = listAttentionRows(view);
  if (rows.length > 0) context.io.out(formatTable(rows));
  context.io.out(
    `${rows.length === 0 ? 'nothing asks' : rows.length === 1 ? '1 asks' : `${rows.length} ask`} for attention\n`,
  );
  printRemarks(context, view);
  return 0;
}

/** Columns: why, item, status, agent, and the record since which it asks. */
function listAttentionRows({ replay }: JournalView): readonly (readonly string[])[] {
  return findAttentionItems(replay.projection).map((item) => {
    const { why, item_id, who: agent, from, title, status, seq } = toAttentionWire(item);
    const about = [agent, from === agent ? null : from].filter((name) => name !== null).join(' <- ');
    return [why, item_id, status, about, `${seq ?? '-'}`, title ?? ''].map(displayName);
  });
}

function toAttentionWire({ why, entity }: AttentionItem) {
  const { item_type, item_id, payload, seq, ts, agent: from } = entity;
  return {
    ...{
      why,
      item_type,
      item_id,
      status: getStatus(entity),
      who: formatTitle(payload.agent) ?? formatTitle(payload.author),
    },
    ...{
      from,
      seq,
      ts,
      title: formatTitle(payload.title) ?? formatTitle(payload.text) ?? formatTitle(payload.description),
    },
  };
}

const MOST = 120;

/** Shortens a title to one line; null when there is none. */
function formatTitle(value: unknown): string | null {
  if (typeof value !== 'string' || value === '') return null;
  const line = value.trim().replaceAll(/\s+/g, ' ');
  return [...line].length > MOST ? `${[...line].slice(0, MOST - 1).join('')}…` : line;
}

/** Prints the messages that wait for one agent or for all. Reading them here marks nothing (brainclaw contract 5). */
export function showInbox({ words }: BrainclawArgs, context: BrainclawContext): number {
  const { io, disk, project } = context;
  const agent = words[0] === undefined ? undefined : toInboxName(words[0]);
  const directory = join(project.store, 'coordination', 'inbox');
  const showsText = context.asJson || agent !== undefined;
  const mail = createAgentMailReader(disk.files, directory, (text) => (showsText ? text : '')).read();
  const inboxes = [...(mail?.values() ?? [])].filter((inbox) => agent === undefined || inbox.agent === agent);
  if (agent !== undefined && inboxes.length === 0) {
    const known = [...(mail?.keys() ?? [])].join(', ') || 'none';
    complain(context, `${agent} has no inbox in ${directory}; known agents: ${known}`);
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
    for (const { name, why } of bad) complain(context, `${name} is not a message: it ${why}`);
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

const LIMIT = 20;

/** Prints the last records that changed no item, such as sessions, progress and journal notes; the newest is last. */
export function showActivity(options: BrainclawArgs, context: BrainclawContext): number {
  const limit = Math.min(parseWholeNumber(options.flags, 'limit', 1) ?? LIMIT, MOST_ACTIVITY);
  const view = loadView(context, options);
  if (view === null) return NOT_KNOWN;
  const activity = view.replay.projection.activity.slice(-limit);
  if (context.asJson) {
    printJson(context, { activity, remarks: findRemarks(view) });
    return 0;
  }
  const rows = activity.map(({ seq, ts, agent, action, item_type, item_id, summary }) =>
    [`${seq}`, ts ?? '-', agent, action, item_id ?? item_type, summary ?? ''].map(displayName),
  );
  context.io.out(rows.length === 0 ? 'no activity\n' : formatTable(rows));
  printRemarks(context, view);
  return 0;
}
