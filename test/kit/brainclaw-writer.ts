import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Another program at work in a store: `STORE SEGMENT NAME FIRST COUNT PAUSE_MS AGENT`. In turn it appends a record, sends the agent a
 * message, and marks the one before as read, the last where it stands. Says on stdout what it wrote, a JSON array a line:
 * `["line", TEXT]` and `["file", NAME, TEXT]`, the last word on each file being what it holds now.
 */
const [store = '', segment = '', name = '', first = '', count = '', pause = '', agent = ''] = process.argv.slice(2);
const say = (...fields: readonly string[]): void => console.log(JSON.stringify(fields));
const inbox = join(store, 'coordination', 'inbox', agent);

function messageText(n: number, status: string): string {
  return JSON.stringify({
    ...{ schema_version: 2, id: `msg_${name}_${n}`, from: name, to: agent, type: 'info', text: `${name} ${n}` },
    ...{ requires_ack: true, status, created_at: '2026-06-20T10:00:00.000Z' },
  });
}

for (let n = 0; n < Number(count); n += 1) {
  const record = JSON.stringify({
    ...{ v: 2, seq: Number(first) + n, ts: '2026-06-20T10:00:00.000Z', writer: `w_1-${name}`, agent: name },
    ...{ action: 'create', item_type: 'state', item_id: `act_${name}_${n}`, entity_rev: 1 },
    payload: { status: n % 2 === 0 ? 'pending' : 'resolved', agent, title: `${name} ${n}` },
  });
  appendFileSync(join(store, 'events', segment), `\n${record}\n`);
  say('line', record);
  const file = (number: number): string => `msg_${name}_${number}.json`;
  writeFileSync(join(inbox, `${file(n)}.tmp`), messageText(n, 'pending'));
  renameSync(join(inbox, `${file(n)}.tmp`), join(inbox, file(n)));
  say('file', file(n), messageText(n, 'pending'));
  if (n > 0) {
    writeFileSync(join(inbox, file(n - 1)), messageText(n - 1, 'read'));
    say('file', file(n - 1), messageText(n - 1, 'read'));
  }
  await sleep(Number(pause));
}
