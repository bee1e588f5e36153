// A shim as an agent's surface: node surface-shim.mjs UPSTREAM TENANT IDENTITY TOKEN. It answers its daemon, and tells the upstream
// that it lives, over a stream of its own.
import { createInterface } from 'node:readline';
import { WebSocket } from 'ws';

const [base, tenant_id, identity, token] = process.argv.slice(2);
const stream = new WebSocket(`${base.replace('http', 'ws')}/v1/session/stream`, 'signals.v1', {
  headers: { authorization: `Bearer ${token}` },
});
stream.on('message', (data) => {
  const { type, heartbeat_ms } = JSON.parse(String(data));
  if (type !== 'welcome') return;
  let seq = 0;
  setInterval(() => stream.send(JSON.stringify({ type: 'heartbeat', seq: ++seq })), heartbeat_ms);
});
stream.on('open', () =>
  stream.send(JSON.stringify({ type: 'hello', kind: 'agent', tenant_id, identity, surface: 'codex' })),
);
stream.on('close', () => process.exit(1));

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const { id } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify({ id, ok: true, alive: true, accepting: true, detail_class: 'ready' })}\n`);
});
lines.on('close', () => process.exit(0));
