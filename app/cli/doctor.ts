import { parseArgs } from 'node:util';
import { printableJson } from '../printable.ts';
import type { Command } from './command.ts';
import { checksOf, examine, exitOf, leaveSoon, realScene, reportJson, reportText } from './doctor/index.ts';
import { usage } from './outcome.ts';

export const command: Command = {
  usage: 'doctor [--json]',
  about: [
    'Looks at everything an icon, a banner and mail depend on, and says the next step. It changes nothing, works with',
    'Hivebar running or not, and takes some seconds at most.',
    '',
    '  --json   the same for a script (docs/CONTRACT.md)',
    '',
    'Exit code 0: nothing fails, there may be warnings; 1: something fails.',
  ],
  examples: [
    { run: 'hivebar doctor', does: 'why is there no icon, no banner, no mail?' },
    { run: "hivebar doctor --json | jq '.checks[] | select(.next)'", does: 'only what asks for a next step' },
  ],
  async run(args, io) {
    const { json } = flagsOf(args);
    const scene = realScene(io);
    try {
      const all = await examine(checksOf(scene), scene);
      io.out(json ? `${printableJson(reportJson(all, scene.version))}\n` : reportText(all));
      return exitOf(all);
    } finally {
      leaveSoon();
      await scene[Symbol.asyncDispose]();
    }
  },
};

function flagsOf(args: readonly string[]): { readonly json: boolean } {
  try {
    const { values } = parseArgs({ args: [...args], options: { json: { type: 'boolean', default: false } } });
    return values;
  } catch (error) {
    throw usage(error);
  }
}
