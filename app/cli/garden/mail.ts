import { type Instant, isoOf } from '../../../core/model/index.ts';
import {
  agentsOf,
  boxDirectory,
  CAPABILITIES,
  createdOf,
  drain,
  enqueue,
  formatEnvelope,
  isAnnounced,
  isLeftEmpty,
  lookInBox,
  type MetaRecord,
  MOST_BODY,
  peek,
  readRecord,
  senderOf,
} from '../../../core/sources/garden/index.ts';
import { printable } from '../../printable.ts';
import { stopSignal } from '../stop-signal.node.ts';
import type { GardenArgs } from './args.ts';
import { callersOf } from './caller.ts';
import { below, complain, complainOf, type Ground, sayJson } from './ground.ts';
import { noteIfNobody } from './nobody.ts';

export async function sendMail({ words, flags }: GardenArgs, ground: Ground): Promise<number> {
  const { io, places, hand } = ground;
  const record = readRecord(hand.disk, places.sessions, flags.id ?? '');
  const refusal = await refusalOf(ground, record, { force: flags.force === true, queue: flags.queue === true });
  if (refusal !== null) {
    complain(ground, refusal);
    return 1;
  }
  const text = words.length > 0 ? words.join(' ') : await io.input();
  const body = text === '' ? text : await addressed(ground, flags.as, record, text);
  const { gardenId, stem, messagePath, signalPath } = enqueue(hand, places, record.gardenId, body);
  if (ground.asJson) sayJson(ground, { gardenId, stem, messagePath, signalPath });
  else io.out(`sent ${stem} to ${gardenId}\n`);
  return 0;
}

/** Says who sent it, where that is known: without the envelope nobody can answer. */
async function addressed(ground: Ground, as: string | undefined, to: MetaRecord, text: string): Promise<string> {
  const { places, hand } = ground;
  const [from] = await callersOf(ground, as, to.gardenId);
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

/** As entwurf writes it, in its own zone. */
function formatKst(at: Instant): string {
  return `${isoOf(at + KST_MS)
    .slice(0, 19)
    .replace('T', ' ')} KST`;
}

/** What a message of this backend's would need to be read; null when nothing is in its way. */
async function refusalOf(
  { places, hand, asks }: Ground,
  record: MetaRecord,
  { force, queue }: { readonly force: boolean; readonly queue: boolean },
): Promise<string | null> {
  const { gardenId, backend } = record;
  if (CAPABILITIES[backend].wakeMode === 'direct-inject') {
    if (force) return null;
    return `${gardenId} is of ${backend}, which reads no mailbox: the message would wait for ever; --force puts it there`;
  }
  if (queue) return null;
  const { agents } = await agentsOf(hand.disk, places, asks, [record], new Map());
  const agent = agents.get(gardenId);
  if (agent?.is === 'live') return null;
  const why = agent === undefined ? '' : ` (${[agent.is, ...agent.reasons].join(', ')})`;
  return `${gardenId} has no active receiver${why}: nobody would be woken; --queue lets the message wait`;
}

export function peekMail({ flags }: GardenArgs, ground: Ground): number {
  const { io, places, hand } = ground;
  const gardenId = flags.id ?? '';
  const box = lookInBox(hand.disk, places.mailbox, gardenId);
  noteIfNobody(ground, gardenId);
  if (box.is === 'refused') {
    complain(ground, `${boxDirectory(places.mailbox, gardenId)} ${box.why}`);
    return 1;
  }
  const unread = box.is === 'box' ? box.unread : [];
  const messages = unread.flatMap((one) => {
    const body = peek(hand.disk, places.mailbox, gardenId, one.file, MOST_BODY);
    if (body === null || box.is !== 'box') return []; // read meanwhile
    const { file, stem, stage, size } = one;
    const isWhole = isAnnounced(one, box.signal) || isLeftEmpty(one, hand.clock.now());
    return [{ file, stem, stage, size, isWhole, created: createdOf(stem), from: senderOf(body.text), body: body.text }];
  });
  const errors = box.is === 'box' ? box.errors : [];
  if (ground.asJson) {
    sayJson(ground, { gardenId, messages, defects: errors });
    return 0;
  }
  for (const { stem, stage, isWhole, body } of messages) {
    showBody(ground, `${stem}  ${stage}${isWhole ? '' : ', may still be written'}`, body);
  }
  if (messages.length === 0) io.out(`${gardenId} has no unread mail\n`);
  complainOf(ground, below(boxDirectory(places.mailbox, gardenId), errors));
  return 0;
}

export async function readMail({ flags }: GardenArgs, ground: Ground): Promise<number> {
  const { io, places, hand } = ground;
  const { gardenId } = readRecord(hand.disk, places.sessions, flags.id ?? '');
  if (flags['not-mine'] !== true) {
    const callers = await callersOf(ground, flags.as, gardenId);
    if (!callers.includes(gardenId)) {
      const who = callers.length === 0 ? 'it is not known who you are' : `you are ${callers.join(' and ')}`;
      complain(
        ground,
        `${who}, and what you read of ${gardenId} is not told to it any more: ` +
          `--as ${gardenId} if that is you, mail peek to look only, --not-mine to read it all the same`,
      );
      return 1;
    }
  }
  const { messages, readAt, left } = await drain(hand, places, gardenId, stopSignal());
  if (ground.asJson) sayJson(ground, { gardenId, messages, readAt, left });
  else {
    for (const { stem, body } of messages) showBody(ground, stem, body);
    if (messages.length === 0) io.out(`${gardenId} has no unread mail\n`);
    complainOf(ground, below(boxDirectory(places.mailbox, gardenId), left));
  }
  return left.length === 0 ? 0 : 1;
}

function showBody({ io }: Ground, head: string, body: string): void {
  const from = senderOf(body);
  io.out(`${printable(head)}${from === null ? '' : `  from ${printable(from)}`}\n`);
  for (const line of body.replace(/\r?\n$/, '').split(/\r?\n/)) io.out(`  ${printable(line)}\n`);
}
