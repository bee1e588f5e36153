/**
 * The least a writer can do: ask, append, flush. Its hive, its file and how it asks come as arguments: over a `socket` of
 * its own, or with `undici`, as Hivebar does. Says on stdout when each line was durable.
 */
import { fdatasyncSync, openSync, writeSync } from 'node:fs';
import { connect } from 'node:net';
import { Pool } from 'undici';

const [port = '', file = '', how = ''] = process.argv.slice(2);
const fd = openSync(file, 'a', 0o600);
const ask = how === 'undici' ? overUndici() : overSocket();

function overUndici(): (path: string) => Promise<string> {
  const pool = new Pool(`http://127.0.0.1:${port}`);
  return async (path) => (await pool.request({ path, method: 'GET' })).body.text();
}

function overSocket(): (path: string) => Promise<string> {
  const socket = connect(Number(port), '127.0.0.1');
  return (path) =>
    new Promise((resolve, reject) => {
      let text = '';
      const hear = (chunk: Buffer): void => {
        text += chunk.toString();
        const head = text.indexOf('\r\n\r\n');
        const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? -1);
        if (head < 0 || text.length < head + 4 + length) return;
        socket.off('data', hear);
        socket.off('error', reject);
        resolve(text.slice(head + 4));
      };
      socket.on('data', hear);
      socket.once('error', reject);
      socket.write(`GET ${path} HTTP/1.1\r\nHost: hive\r\n\r\n`);
    });
}

let cursor = '0';
let seen = 0;
process.stdout.write('ready\n');
for (;;) {
  cursor = (JSON.parse(await ask(`/api/notify/pending?wait=50&cursor=${cursor}`)) as { cursor: string }).cursor;
  const { result } = JSON.parse(await ask('/api/inbox?persona=persona-0000&mark_read=false')) as {
    result: { id: number }[];
  };
  for (const row of result.filter(({ id }) => id > seen)) {
    seen = row.id;
    writeSync(fd, `${JSON.stringify({ event: 'new', ...row })}\n`);
    fdatasyncSync(fd);
    process.stdout.write(`${row.id} ${process.hrtime.bigint()}\n`);
  }
}
