/**
 * The least that answers a durable send over HTTP: `node floor-server.ts FILE`. It appends each body to FILE, flushes once for all bodies of a
 * turn of the event loop, and then answers. Prints its port.
 */
import { fdatasyncSync, openSync, writeSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const fd = openSync(process.argv[2] ?? '', 'a');
let waiting: { readonly body: string; readonly response: ServerResponse }[] = [];

function commit(): void {
  const group = waiting;
  waiting = [];
  writeSync(fd, group.map(({ body }) => `${body}\n`).join(''));
  fdatasyncSync(fd);
  for (const { response } of group) response.end('{}');
}

const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (text) => {
    body += text;
  });
  request.on('end', () => {
    response.setHeader('Content-Length', 2);
    waiting.push({ body, response });
    if (waiting.length === 1) setImmediate(commit);
  });
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
