import { upstreamUrls } from '../../../core/daemon/index.ts';
import { MAX_TEXT, render } from '../../../core/inbox/drain/index.ts';
import type { Item } from '../../../core/inbox/index.ts';
import { type DaemonPlaces, LOCAL, readDaemonConfig, readDaemonToken } from '../../../core/link/index.ts';
import { Fault, instantOfIso } from '../../../core/model/index.ts';
import { realClock } from '../../../core/ports/index.ts';
import { type Disk, ownDirs, realDisk } from '../../../core/state/index.ts';
import { localBase } from '../../compose/daemon-truth.ts';
import { printableJson } from '../../printable.ts';
import type { Io } from '../command.ts';
import { usage } from '../outcome.ts';
import { stderrLog } from '../stderr-log.ts';
import { postJson } from './post-json.node.ts';
import { whichDaemon } from './which.ts';

const MOST = 20;
/** So many are taken at once at most (persona daemon, contract 2). */
const MOST_OF_ALL = 100;
/** Beside the texts: what frames each of them. */
const FRAME = 1000;

/**
 * `daemon drain`: what waits upstream for the persona of a daemon, taken as its surface. What is printed is not pending there any
 * more, so all of it is printed, however long.
 *
 * @throws Fault `usage`, `daemon-config`, and what the upstream and the way to it say
 */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { places, flags } = whichDaemon('drain', args, { max: { type: 'string' } }, io);
  const max = flags.max === undefined ? MOST : Number(flags.max);
  if (!(Number.isInteger(max) && max >= 1 && max <= MOST_OF_ALL))
    throw usage(new Error(`--max ${flags.max}: say a number from 1 to ${MOST_OF_ALL}`));
  const { pending, url, token, address, isOurs } = targetOf(
    places,
    realDisk(stderrLog(io, 'hivebar daemon drain')),
    io,
  );
  const answer = await postJson({ post: url, after: pending }, token, { max });
  const drained = drainedOf(answer.status === 200 ? answer.body : null, address, isOurs);
  if (drained === null) throw refused(url, answer.status, answer.body);
  if (flags.json === true) io.out(`${printableJson(JSON.stringify(drained.json))}\n`);
  else io.out(textOf(places.name, address, drained));
  return 0;
}

function targetOf(places: DaemonPlaces, disk: Disk, io: Io) {
  const wrong = (path: string, what: string): Fault =>
    new Fault('daemon-config', `${path} ${what}`, { is: 'machine', key: `file:${path}` });
  const config = readDaemonConfig(disk, places);
  if (config === null) throw wrong(places.config, 'is not there');
  const token = readDaemonToken(disk, places.actToken);
  if (token === null) throw wrong(places.actToken, 'is not there');
  const { upstream, address } = config;
  const pending = upstreamUrls(upstream === LOCAL ? baseHere(disk, address, io) : upstream)?.pending;
  if (pending === undefined) throw wrong(places.config, `names the upstream ${upstream}, where no token is sent`);
  return { pending, url: `${pending}/drain`, token, address, isOurs: upstream === LOCAL };
}

function baseHere(disk: Disk, address: string, io: Io): string {
  try {
    return localBase(disk, ownDirs({ ...io.env }).run);
  } catch (cause) {
    const what = `hivebar does not run; hivebar inbox drain ${JSON.stringify(address)} takes what waits without it`;
    throw new Fault('refused', what, { is: 'machine', key: 'tray' }, { cause });
  }
}

interface DrainedHere {
  /** As it came. */
  readonly json: unknown;
  readonly items: readonly Item[];
  readonly remaining: number;
}

/** Null: it is no answer to a drain. */
function drainedOf(body: unknown, address: string, isOurs: boolean): DrainedHere | null {
  if (!isObject(body) || !Array.isArray(body.items)) return null;
  const items = body.items.map((one: unknown) => (isObject(one) ? itemOf(one, address, isOurs) : null));
  if (items.includes(null)) return null;
  const remaining = typeof body.remaining === 'number' ? body.remaining : 0;
  return { json: body, items: items.filter((item) => item !== null), remaining };
}

/**
 * An item as the frame shows it. An upstream that is not Hivebar may have names for its signals that are no numbers, and what
 * it says of their origin proves nothing.
 */
function itemOf(of: Readonly<Record<string, unknown>>, persona: string, isOurs: boolean): Item | null {
  const { id, from, body, urgent, created } = of;
  if (typeof from !== 'string' || typeof body !== 'string') return null;
  const made = typeof created === 'string' ? instantOfIso(created) : null;
  return {
    id: typeof id === 'number' && Number.isSafeInteger(id) ? id : 0,
    persona,
    type: 'agent',
    source: from,
    content: body,
    priority: urgent === true ? 1 : 2,
    session: null,
    created: made ?? realClock.now(),
    expires: null,
    dedupKey: '',
    isBroadcast: of.broadcast === true,
    origin: isOurs && of.origin === 'hivebar' ? 'hivebar' : null,
    read: null,
    delivered: null,
  };
}

function textOf(name: string, address: string, { items, remaining }: DrainedHere): string {
  if (items.length === 0) return '';
  // Each character may take five in the frame, and nothing may be cut: it can not be had again.
  const room = items.reduce((sum, { content, source }) => sum + 5 * content.length + source.length + FRAME, MAX_TEXT);
  const { text } = render(items, { persona: address, now: realClock.now(), left: 0, room });
  const more = remaining === 0 ? '' : `[${remaining} more pending: hivebar daemon drain ${name}]\n`;
  return `${text}\n${more}`;
}

function refused(url: string, status: number, body: unknown): Fault {
  const { origin } = new URL(url);
  if (status === 200) return new Fault('shape', `${origin} answers a drain with something else`, scopeOf(origin));
  const said = isObject(body) && isObject(body.error) ? `: ${String(body.error.message).slice(0, 200)}` : '';
  const code = status === 401 || status === 403 ? 'daemon-token' : 'status';
  return new Fault(code, `${origin} answers a drain with HTTP ${status}${said}`, scopeOf(origin));
}

function scopeOf(origin: string) {
  return { is: 'source', key: origin } as const;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
