import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { goals, quantile, type Sample } from './harness.ts';
import { fileText, spin, startTray, temporary, until } from './rig.ts';

export const benches = [
  goals([{ name: 'an external exec source -> event line, p50', unit: 'ms', bar: 10 }], measureSource),
];

const MESSAGES = 15;
/** A hint brings the next poll forward to at most one per second. */
const PAUSE_MS = 1200;

/** A source that has one more message each time. Its content is when the source began to say so, on the clock of the machine. */
const PROGRAM = `
import { createInterface } from 'node:readline';
const say = (line) => process.stdout.write(JSON.stringify(line) + '\\n');
let waiting = [];
let count = 0;
let timer;
for await (const text of createInterface({ input: process.stdin })) {
  const { op, id } = JSON.parse(text);
  if (op === 'hello') say({ op: 'ready', protocol: 1, source: 'bench', label: 'Bench', can: ['hint'] });
  if (op !== 'look') continue;
  for (const line of waiting) say(line);
  waiting = [];
  say({ op: 'done', id, cursor: null, full: count < 2, more: false });
  clearTimeout(timer);
  timer = setTimeout(() => {
    count += 1;
    waiting.push({ op: 'item', persona: 'ada', key: 'k' + count, state: 'unread', content: String(process.hrtime.bigint()) });
    say({ op: 'changed' });
  }, ${PAUSE_MS});
}
`;

async function measureSource(): Promise<readonly Sample[]> {
  const home = temporary();
  const program = join(home, 'source.mjs');
  writeFileSync(program, PROGRAM, { mode: 0o600 });
  const folder = join(home, 'hivebar', 'config');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const sources = [{ name: 'bench', is: 'exec', argv: [process.execPath, program] }];
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ primary: { is: 'local' }, sources }), { mode: 0o600 });
  await using _tray = await startTray(home);
  const path = join(home, 'hivebar', 'events', 'events.bench-ada.ndjson');
  await until('the first message', () => fileText(path)?.includes('"new"') === true, 60_000);
  const took: number[] = [];
  let length = (fileText(path) ?? '').length;
  for (let n = 0; n < MESSAGES; n += 1) {
    await spin(() => (fileText(path) ?? '').length > length, PAUSE_MS * 5);
    const now = process.hrtime.bigint();
    const text = fileText(path) ?? '';
    length = text.length;
    const { content } = JSON.parse(text.trimEnd().split('\n').at(-1) ?? '') as { content: string };
    took.push(Number(now - BigInt(content)) / 1e6);
  }
  return [{ value: quantile(took, 0.5), note: `p90 ${quantile(took, 0.9).toFixed(1)} ms` }];
}
