// A shim as a test wants it: node stand-in-shim.mjs RECORD [WORD...]. Each line it gets, its start and its end are appended to
// RECORD as JSON. WORDS: `mute` answers nothing, `refuses` says no to a ring, `dies` ends in a ring, `deaf` ignores SIGTERM and
// the end of its stdin, `child` starts a process of its own, `ends` ends at once, `floods` writes a line without end.
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [record, ...words] = process.argv.slice(2);
const is = (word) => words.includes(word);
const note = (entry) => appendFileSync(record, `${JSON.stringify({ pid: process.pid, ...entry })}\n`);

const child = is('child') ? spawn('sleep', ['600'], { stdio: 'ignore' }) : null;
note({ is: 'started', cwd: process.cwd(), argv: words, child: child?.pid ?? null });
if (is('ends')) process.exit(3);
if (is('floods')) process.stdout.write('x'.repeat(100_000));
if (is('deaf')) process.on('SIGTERM', () => note({ is: 'asked to end' }));
if (is('deaf')) setInterval(() => {}, 1000);

// A daemon that was killed while it asked is no reason to end: its end of stdin is.
process.stdout.on('error', () => {});

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const asked = JSON.parse(line);
  note({ is: 'asked', asked });
  if (asked.call === 'notify_surface' && is('dies')) process.kill(process.pid, 'SIGKILL');
  if (is('mute')) return;
  process.stdout.write('chatter that is no answer\n');
  const status = asked.call === 'status' ? { alive: true, accepting: true, detail_class: 'ready' } : {};
  const ok = !(asked.call === 'notify_surface' && is('refuses'));
  process.stdout.write(`${JSON.stringify({ id: asked.id, ok, ...status })}\n`);
});
lines.on('close', () => note({ is: 'end of stdin' }));
