// A source outside of Hivebar for tests. The file of its first argument says what it does, and is read again for each poll:
// {"ready"?, "pages"?: {CURSOR: {"lines", "done"}}, "lines"?, "done"?, "sleepMs"?, "exit"?, "flood"?, "unasked"?}
// Each line that Hivebar sends is appended to FILE.heard.
import { appendFileSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [path] = process.argv.slice(2);
const read = () => JSON.parse(readFileSync(path, 'utf8'));
const say = (line) => writeSync(1, typeof line === 'string' ? line : `${JSON.stringify(line)}\n`);
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

writeFileSync(`${path}.env`, JSON.stringify({ env: process.env, cwd: process.cwd() }));
const start = read();
if (start.exit !== undefined) process.exit(start.exit);
let isStorm = false;
for await (const text of createInterface({ input: process.stdin })) {
  appendFileSync(`${path}.heard`, `${text}\n`);
  const line = JSON.parse(text);
  if (line.op === 'hello') {
    say({
      op: 'ready',
      protocol: 1,
      source: 'my-mail',
      label: 'My mail',
      can: ['hint', 'markRead', 'reply'],
      ...start.ready,
    });
    if (read().flood !== undefined) flood(read().flood);
  }
  if (line.op === 'act') say({ op: 'result', id: line.id, ok: true });
  if (line.op !== 'look') continue;
  const now = read();
  if (now.sleepMs !== undefined) await wait(now.sleepMs);
  const { lines = [], done = {} } = now.pages?.[line.cursor ?? 'null'] ?? now;
  say(
    lines
      .map((each) => (typeof each === 'string' ? each : JSON.stringify(each)))
      .concat('')
      .join('\n'),
  );
  if (now.fault !== undefined) say({ op: 'fault', ...now.fault });
  else say({ op: 'done', id: line.id, cursor: null, full: true, more: false, ...done });
  if (now.storm === true && !isStorm) {
    isStorm = true;
    setInterval(() => say({ op: 'changed' }), 1);
  }
}

/** One GiB of lines, or of one line, that nobody asked for. */
function flood(kind) {
  const line =
    kind === 'line'
      ? 'x'.repeat(65536)
      : `${JSON.stringify({ op: 'item', persona: 'ada', key: 'k', state: 'unread' })}\n`.repeat(900);
  for (let written = 0; written < 1024 ** 3; written += line.length) {
    for (let at = 0; at < line.length; ) {
      try {
        at += writeSync(1, line.slice(at));
      } catch (error) {
        if (error.code !== 'EAGAIN') process.exit(1);
      }
    }
  }
}
