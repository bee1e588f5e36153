import { type Io, toUsageFault } from '../../../core/command/index.ts';
import { parseUpstreamUrls } from '../../../core/daemon/index.ts';
import { displayJson } from '../../../core/format/index.ts';
import { MAX_TEXT, render } from '../../../core/inbox/drain/index.ts';
import type { Item } from '../../../core/inbox/index.ts';
import { type DaemonPlaces, LOCAL, readDaemonConfig, readDaemonToken } from '../../../core/link/index.ts';
import { Fault, parseIso } from '../../../core/model/index.ts';
import { realClock } from '../../../core/ports/index.ts';
import { createRealDisk, type Disk, findOwnDirs } from '../../../core/state/index.ts';
import { readLocalBase } from '../../daemon/daemon-binding.ts';
import { createStderrLog } from '../process.node.ts';
import { postJson } from './post-json.node.ts';
import { parseDaemonArgs } from './schema.ts';
import { resolveDaemon } from './simple-requests.ts';

const MOST = 20;
/** The most items that one drain takes (persona daemon, contract 2). */
const MOST_OF_ALL = 100;
/** Characters around the text of each item in the frame. */
const FRAME = 1000;

/**
 * `daemon drain`: prints what waits upstream for the persona of a daemon, with the token of its surface. Printed items are no
 * longer pending upstream, so all of them are printed, however long.
 *
 * @throws Fault `usage`, `daemon-config`, and the faults of the upstream and the connection
 */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const flags = parseDaemonArgs('drain', args);
  const { places } = resolveDaemon(flags, io);
  const max = flags.max === undefined ? MOST : Number(flags.max);
  if (!(Number.isInteger(max) && max >= 1 && max <= MOST_OF_ALL))
    throw toUsageFault(new Error(`--max ${flags.max}: must be a whole number from 1 to ${MOST_OF_ALL}`));
  const { pending, url, token, address, isOurs } = findTarget(
    places,
    createRealDisk(createStderrLog(io, 'hivebar daemon drain')),
    io,
  );
  const answer = await postJson({ post: url, after: pending }, token, { max });
  const drained = parseDrained(answer.status === 200 ? answer.body : null, address, isOurs);
  if (drained === null) throw toRefusalFault(url, answer.status, answer.body);
  if (flags.json) io.out(`${displayJson(JSON.stringify(drained.json))}\n`);
  else io.out(formatDrained(places.name, address, drained));
  return 0;
}

function findTarget(places: DaemonPlaces, disk: Disk, io: Io) {
  const wrong = (path: string, problem: string): Fault =>
    new Fault('daemon-config', `${path} ${problem}`, { is: 'machine', key: `file:${path}` });
  const config = readDaemonConfig(disk, places);
  if (config === null) throw wrong(places.config, 'does not exist');
  const token = readDaemonToken(disk, places.actToken);
  if (token === null) throw wrong(places.actToken, 'does not exist');
  const { upstream, address } = config;
  const pending = parseUpstreamUrls(upstream === LOCAL ? findLocalBase(disk, address, io) : upstream)?.pending;
  if (pending === undefined) throw wrong(places.config, `names the upstream ${upstream}, which may not get a token`);
  return { pending, url: `${pending}/drain`, token, address, isOurs: upstream === LOCAL };
}

function findLocalBase(disk: Disk, address: string, io: Io): string {
  try {
    return readLocalBase(disk, findOwnDirs({ ...io.env }).run);
  } catch (cause) {
    const message = `hivebar is not running; use hivebar inbox drain ${JSON.stringify(address)}, which works without it`;
    throw new Fault('refused', message, { is: 'machine', key: 'tray' }, { cause });
  }
}

interface DaemonDrainResult {
  /** The response body, unchanged. */
  readonly json: unknown;
  readonly items: readonly Item[];
  readonly remaining: number;
}

/** Null: the body is not an answer to a drain. */
function parseDrained(body: unknown, address: string, isOurs: boolean): DaemonDrainResult | null {
  if (!isObject(body) || !Array.isArray(body.items)) return null;
  const items = body.items.map((entry: unknown) => (isObject(entry) ? toItem(entry, address, isOurs) : null));
  if (items.includes(null)) return null;
  const remaining = typeof body.remaining === 'number' ? body.remaining : 0;
  return { json: body, items: items.filter((item) => item !== null), remaining };
}

/**
 * Converts an entry to an item for the frame. An upstream other than Hivebar may use ids that are not numbers, and its claim
 * about an item's origin proves nothing.
 */
function toItem(entry: Readonly<Record<string, unknown>>, persona: string, isOurs: boolean): Item | null {
  const { id, from, body, urgent, created } = entry;
  if (typeof from !== 'string' || typeof body !== 'string') return null;
  const createdAt = typeof created === 'string' ? parseIso(created) : null;
  return {
    id: typeof id === 'number' && Number.isSafeInteger(id) ? id : 0,
    persona,
    type: 'agent',
    source: from,
    content: body,
    priority: urgent === true ? 1 : 2,
    session: null,
    created: createdAt ?? realClock.now(),
    expires: null,
    dedupKey: '',
    isBroadcast: entry.broadcast === true,
    origin: isOurs && entry.origin === 'hivebar' ? 'hivebar' : null,
    read: null,
    delivered: null,
  };
}

function formatDrained(name: string, address: string, { items, remaining }: DaemonDrainResult): string {
  if (items.length === 0) return '';
  // A character may take five in the frame, and nothing may be cut, because the text cannot be fetched again.
  const room = items.reduce((sum, { content, source }) => sum + 5 * content.length + source.length + FRAME, MAX_TEXT);
  const { text } = render(items, { persona: address, now: realClock.now(), left: 0, room });
  const remainder = remaining === 0 ? '' : `[${remaining} more pending: hivebar daemon drain ${name}]\n`;
  return `${text}\n${remainder}`;
}

function toRefusalFault(url: string, status: number, body: unknown): Fault {
  const { origin } = new URL(url);
  if (status === 200) return new Fault('shape', `${origin} sent an invalid answer to a drain`, toScope(origin));
  const detail = isObject(body) && isObject(body.error) ? `: ${String(body.error.message).slice(0, 200)}` : '';
  const code = status === 401 || status === 403 ? 'daemon-token' : 'status';
  return new Fault(code, `${origin} answers a drain with HTTP ${status}${detail}`, toScope(origin));
}

function toScope(origin: string) {
  return { is: 'source', key: origin } as const;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
