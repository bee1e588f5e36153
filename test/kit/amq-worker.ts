import { readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatAmqMessage } from './amq-queue.ts';

/**
 * Another program at a mailbox of AMQ, to its end: `INBOX deliver COUNT PAUSE` prints each name that it delivered, as JSON;
 * `INBOX drain COUNT PAUSE` claims what is there, so often.
 */
const [inbox = '', work = '', count = '0', pause = '0'] = process.argv.slice(2);
for (let n = 0; n < Number(count); n += 1) {
  if (work === 'deliver') {
    const name = `2026-08-22T12-00-00.000Z_pid${process.pid}_${n.toString(16).padStart(8, '0')}.md`;
    writeFileSync(join(inbox, 'tmp', name), formatAmqMessage({ body: name }));
    renameSync(join(inbox, 'tmp', name), join(inbox, 'new', name));
    console.log(JSON.stringify(name));
  } else {
    for (const name of readdirSync(join(inbox, 'new'))) renameSync(join(inbox, 'new', name), join(inbox, 'cur', name));
  }
  await sleep(Number(pause));
}
