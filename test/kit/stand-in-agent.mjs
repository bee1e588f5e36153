// An agent program, as hooks see it: a process that lives on and runs the hook for each line on stdin, `EVENT JSON`.
import { spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';

const [entry, harness, persona] = process.argv.slice(2);
for await (const line of createInterface({ input: process.stdin })) {
  const at = line.indexOf(' ');
  const event = line.slice(0, at);
  const args = [entry, 'hook', '--harness', harness, '--event', event, ...(persona ? ['--persona', persona] : [])];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { input: line.slice(at + 1), encoding: 'utf8' });
  process.stdout.write(`${JSON.stringify({ status, stdout, stderr })}\n`);
}
