import { displayName } from '../../../format/index.ts';
import { Fault, formatIso, type Instant } from '../../../model/index.ts';
import {
  CAPABILITIES,
  drain,
  enqueue,
  formatEnvelope,
  isAnnounced,
  isLeftEmpty,
  judgeOwner,
  type MetaRecord,
  MOST_BODY,
  mergeReceipt,
  parseCreated,
  parseSender,
  peek,
  readBox,
  readReceipt,
  readReceiver,
  readRecord,
  readSenders,
  readStoreLiveness,
  toBoxPath,
} from '../index.ts';
import { listAncestors } from './ancestors.node.ts';
import type { GardenArgs } from './args.ts';
import {
  complain,
  formatTable,
  type GardenContext,
  prefixDefects,
  printJson,
  reportDefects,
} from './garden-context.ts';

export async function sendMail({ words, flags }: GardenArgs, context: GardenContext): Promise<number> {
  const { io, places, hand } = context;
  const record = readRecord(hand.disk, places.sessions, flags.id ?? '');
  const refusal = await findRefusal(context, record, { force: flags.force === true, queue: flags.queue === true });
  if (refusal !== null) {
    complain(context, refusal);
    return 1;
  }
  const text = words.length > 0 ? words.join(' ') : await io.input();
  const body = text === '' ? text : await addressText(context, flags.as, record, text);
  const { gardenId, stem, messagePath, signalPath } = enqueue(hand, places, record.gardenId, body);
  if (context.asJson) printJson(context, { gardenId, stem, messagePath, signalPath });
  else io.out(`sent ${stem} to ${gardenId}\n`);
  return 0;
}

/** Adds an envelope with the sender, where the sender is known. Without an envelope nobody can answer. */
async function addressText(
  context: GardenContext,
  as: string | undefined,
  to: MetaRecord,
  text: string,
): Promise<string> {
  const { places, hand } = context;
  const [from] = await findCallers(context, as, to.gardenId);
  if (from === undefined) return text;
  const sender = readRecord(hand.disk, places.sessions, from);
  return formatEnvelope({
    from: `${sender.backend} @ ${sender.cwd}`,
    session: `${sender.gardenId} (meta-session, reply to this garden id)`,
    at: formatKst(hand.clock.now()),
    wantsReply: CAPABILITIES[sender.backend].wakeMode === 'self-fetch',
    text,
  });
}

const KST_MS = 9 * 3_600_000;

/** Formats a time as entwurf does, in its time zone. */
function formatKst(at: Instant): string {
  return `${formatIso(at + KST_MS)
    .slice(0, 19)
    .replace('T', ' ')} KST`;
}

/** Returns why a message to this citizen would not be read; null when nothing prevents it. */
async function findRefusal(
  { places, hand, asks }: GardenContext,
  record: MetaRecord,
  { force, queue }: { readonly force: boolean; readonly queue: boolean },
): Promise<string | null> {
  const { gardenId, backend } = record;
  if (CAPABILITIES[backend].wakeMode === 'direct-inject') {
    if (force) return null;
    return `${gardenId} uses ${backend}, which reads no mailbox: the message would wait forever; use --force to send it anyway`;
  }
  if (queue) return null;
  const { agents } = await readStoreLiveness(hand.disk, places, asks, [record], new Map());
  const agent = agents.get(gardenId);
  if (agent?.is === 'live') return null;
  const why = agent === undefined ? '' : ` (${[agent.is, ...agent.reasons].join(', ')})`;
  return `${gardenId} has no active receiver${why}: no agent would be woken; use --queue to let the message wait`;
}

export function peekMail({ flags }: GardenArgs, context: GardenContext): number {
  const { io, places, hand } = context;
  const gardenId = flags.id ?? '';
  const box = readBox(hand.disk, places.mailbox, gardenId);
  findRecordOrReport(context, gardenId);
  if (box.is === 'refused') {
    complain(context, `${toBoxPath(places.mailbox, gardenId)} ${box.why}`);
    return 1;
  }
  const unread = box.is === 'box' ? box.unread : [];
  const messages = unread.flatMap((message) => {
    const body = peek(hand.disk, places.mailbox, gardenId, message.file, MOST_BODY);
    if (body === null || box.is !== 'box') return []; // somebody has read it meanwhile
    const { file, stem, stage, size } = message;
    const isWhole = isAnnounced(message, box.signal) || isLeftEmpty(message, hand.clock.now());
    return [
      { file, stem, stage, size, isWhole, created: parseCreated(stem), from: parseSender(body.text), body: body.text },
    ];
  });
  const errors = box.is === 'box' ? box.errors : [];
  if (context.asJson) {
    printJson(context, { gardenId, messages, defects: errors });
    return 0;
  }
  for (const { stem, stage, isWhole, body } of messages) {
    showBody(context, `${stem}  ${stage}${isWhole ? '' : ', may still be written'}`, body);
  }
  if (messages.length === 0) io.out(`${gardenId} has no unread mail\n`);
  reportDefects(context, prefixDefects(toBoxPath(places.mailbox, gardenId), errors));
  return 0;
}

export async function readMail({ flags }: GardenArgs, context: GardenContext): Promise<number> {
  const { io, places, hand } = context;
  const { gardenId } = readRecord(hand.disk, places.sessions, flags.id ?? '');
  if (flags['not-mine'] !== true) {
    const callers = await findCallers(context, flags.as, gardenId);
    if (!callers.includes(gardenId)) {
      const identity = callers.length === 0 ? 'cannot tell who you are' : `you are ${callers.join(' and ')}`;
      complain(
        context,
        `${identity}, and ${gardenId} will no longer get what you read: ` +
          `use --as ${gardenId} if that is you, mail peek to only look, or --not-mine to read it anyway`,
      );
      return 1;
    }
  }
  const { messages, readAt, left } = await drain(hand, places, gardenId, context.host.createStopSignal());
  if (context.asJson) printJson(context, { gardenId, messages, readAt, left });
  else {
    for (const { stem, body } of messages) showBody(context, stem, body);
    if (messages.length === 0) io.out(`${gardenId} has no unread mail\n`);
    reportDefects(context, prefixDefects(toBoxPath(places.mailbox, gardenId), left));
  }
  return left.length === 0 ? 0 : 1;
}

function showBody({ io }: GardenContext, head: string, body: string): void {
  const from = parseSender(body);
  io.out(`${displayName(head)}${from === null ? '' : `  from ${displayName(from)}`}\n`);
  for (const line of body.replace(/\r?\n$/, '').split(/\r?\n/)) io.out(`  ${displayName(line)}\n`);
}

const PERSONA = /^garden-(.+)$/;

/**
 * Finds the citizens that the caller may be: the one of `--as`, else the one of HIVEBAR_PERSONA. Otherwise these are the
 * citizens whose marker names a process above this one. Empty: unknown.
 */
async function findCallers(
  context: GardenContext,
  as: string | undefined,
  gardenId: string,
): Promise<readonly string[]> {
  if (as !== undefined) return [as];
  const persona = PERSONA.exec(context.io.env.HIVEBAR_PERSONA ?? '')?.[1];
  if (persona !== undefined) return [persona];
  const { places, hand, asks } = context;
  const receiver = readReceiver(hand.disk, places.receivers, gardenId);
  const markers = [
    ...readSenders(hand.disk, places.senders).markers,
    ...(receiver.is === 'marker' && receiver.marker.gardenId === gardenId ? [receiver.marker] : []),
  ];
  const above = new Set(listAncestors());
  const near = markers.filter(({ ownerPid }) => above.has(ownerPid));
  const processes = await asks.readProcesses(near.map(({ ownerPid }) => ownerPid));
  const live = near.filter(
    ({ ownerPid, ownerStartKey }) => judgeOwner(ownerPid, ownerStartKey, processes.get(ownerPid)) === 'live',
  );
  return [...new Set(live.map((marker) => marker.gardenId))];
}

/** Finds the citizen of a box. Null: there is none, which is reported; the contents of the box exist all the same. */
function findRecordOrReport(context: GardenContext, gardenId: string): MetaRecord | null {
  try {
    return readRecord(context.hand.disk, context.places.sessions, gardenId);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'garden') throw error;
    complain(context, error.message);
    return null;
  }
}

export function showReceipt({ flags }: GardenArgs, context: GardenContext): number {
  const { io, places, hand } = context;
  const state = readReceipt(hand.disk, places.mailbox, flags.id ?? '');
  const record = findRecordOrReport(context, state.gardenId);
  const receipt = record === null ? state : mergeReceipt(state, record);
  if (context.asJson) {
    printJson(context, { receipt });
    return 0;
  }
  const { lastEnqueuedAt, lastDeliveredAt, lastReadAt } = receipt;
  const times = Object.entries({ lastEnqueuedAt, lastDeliveredAt, lastReadAt });
  io.out(formatTable(times.map(([key, time]) => [key, displayName(time ?? 'never')])));
  return 0;
}
