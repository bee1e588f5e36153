import { watchFile } from '../../core/events/index.ts';
import { displayJson, displayName, formatLogTime } from '../../core/format/index.ts';
import { type Disk, getErrno, openForRead, toIoFault } from '../../core/state/index.ts';
import { createLineOutput } from './nonblocking-io.node.ts';

/** Our logs are renamed to `PATH.1` when they are long, so two files hold what is kept. */
const OLDER = '.1';
const CHUNK = 256 * 1024;

/** Reads a log of ours and follows it by its name. */
export interface LogReader extends Disposable {
  /** The whole lines that came since the last call; at first all that are kept. @throws Fault `unreadable` */
  next(): readonly string[];
}

export function openLogReader(disk: Disk, path: string): LogReader {
  const { files } = disk;
  let live: { readonly fd: number; readonly ino: number; offset: number; torn: string } | null = null;
  let isFirst = true;

  function open(name: string): NonNullable<typeof live> | null {
    const opened = openForRead(disk, name);
    return opened === null ? null : { fd: opened.fd, ino: opened.stat.ino, offset: 0, torn: '' };
  }

  function readRest(file: NonNullable<typeof live>): string[] {
    const parts: Buffer[] = [];
    for (;;) {
      const bytes = Buffer.alloc(CHUNK);
      const count = files.read(file.fd, bytes, file.offset);
      if (count === 0) break;
      file.offset += count;
      parts.push(bytes.subarray(0, count));
    }
    const lines = (file.torn + Buffer.concat(parts).toString('utf8')).split('\n');
    file.torn = lines.pop() ?? '';
    return lines;
  }

  function readOlder(current: number | undefined): string[] {
    const older = open(`${path}${OLDER}`);
    if (older === null) return [];
    try {
      return older.ino === current ? [] : readRest(older); // it was renamed just now
    } finally {
      files.close(older.fd);
    }
  }

  return {
    next() {
      try {
        const lines = live === null ? [] : readRest(live);
        if (live === null || files.lstat(path)?.ino !== live.ino) {
          const named = open(path);
          if (named !== null) {
            if (live !== null) files.close(live.fd);
            live = named;
            lines.push(...readRest(named));
          }
        }
        if (isFirst) lines.unshift(...readOlder(live?.ino));
        isFirst = false;
        return lines;
      } catch (error) {
        if (getErrno(error) === 'ENOENT') return [];
        throw toIoFault(error, path, 'unreadable');
      }
    },
    [Symbol.dispose]() {
      if (live !== null) files.close(live.fd);
      live = null;
    },
  };
}

/** Yields the last `most` lines of a log, then, with `follow`, every new one until `stop` aborts. */
export async function* readLog(
  disk: Disk,
  path: string,
  { most, follow, stop }: { readonly most: number; readonly follow: boolean; readonly stop: AbortSignal },
): AsyncGenerator<readonly string[], void> {
  using reader = openLogReader(disk, path);
  yield takeLast(reader.next(), most);
  if (!follow) return;
  let wake = (): void => {};
  using _changes = watchFile(path, () => wake());
  stop.addEventListener('abort', () => wake(), { once: true });
  while (!stop.aborted) {
    const changed = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const lines = reader.next();
    if (lines.length > 0) yield lines;
    else await changed;
  }
}

function takeLast(lines: readonly string[], most: number): readonly string[] {
  return most === 0 ? [] : lines.slice(-most);
}

/** Prints lines for a person, or as they are stored, until they end, `stop` aborts or nobody reads. */
export async function printLog(
  batches: AsyncIterable<readonly string[]>,
  isJson: boolean,
  stop: AbortSignal,
): Promise<void> {
  const output = createLineOutput();
  const format = isJson ? displayJson : formatLogLine;
  for await (const lines of batches) {
    const text = lines.map((line) => `${format(line)}\n`).join('');
    if (text !== '' && (await output.write(text, stop)) !== 'written') return;
  }
}

const LEVELS: Readonly<Record<string, string>> = { 30: 'info', 40: 'warn', 50: 'error' };

/** What the two kinds of records of ours have in common: the tray process and a daemon write other names. */
interface StoredRecord {
  readonly time?: unknown;
  readonly ts?: unknown;
  readonly level?: unknown;
  readonly msg?: unknown;
}

/** Returns the message of a line; the line itself when it is no record of ours. */
export function parseLogMessage(line: string): string {
  const { msg } = parseRecord(line) ?? {};
  return typeof msg === 'string' ? msg : line;
}

/** Formats a line for a person: local time, level and message. Anything but a record of ours is shown as it is. */
function formatLogLine(line: string): string {
  const { time, ts, level, msg, ...about } = parseRecord(line) ?? {};
  const at = formatLogTime(String(time ?? ts));
  if (at === null || typeof msg !== 'string') return displayName(line);
  const rest = ts === undefined && Object.keys(about).length > 0 ? ` ${displayJson(JSON.stringify(about))}` : '';
  return `${at}  ${(LEVELS[String(level)] ?? String(level)).padEnd(5)}  ${displayName(msg)}${rest}`;
}

function parseRecord(line: string): (StoredRecord & Readonly<Record<string, unknown>>) | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null; // the last words of Node, or of a launcher
  }
}
