import { parseArgs } from 'node:util';
import type { Io, TextCommand } from '../../core/command/index.ts';
import { toUsageFault } from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';
import { runWithHive } from './open-local-hive.ts';

export const command: TextCommand = {
  usage: 'send --to PERSONA --from PERSONA [--urgent] [TEXT...]',
  about: [
    'Puts a message into the local hive. It is on the disk when the command ends, also with hivebar closed.',
    'Without TEXT the message is read from stdin.',
  ],
  examples: [
    { run: 'hivebar send --to ada --from me "please review"', does: 'one message' },
    { run: 'git log -1 | hivebar send --to ada --from ci --urgent', does: 'text from stdin, marked urgent' },
  ],
  async run(args, io) {
    const mail = await parseMail(args, io);
    const sent = await runWithHive(io, 'hivebar send', null, true, (hive) => hive.sendNow(mail));
    io.out(`sent ${sent.id} to ${displayName(sent.to)}\n`);
    return 0;
  },
};

async function parseMail(args: readonly string[], io: Io) {
  const { to, from, urgent, words } = parseArguments(args);
  if (to === undefined || to === '') throw toUsageFault(new Error('--to: who gets it?'));
  if (from === undefined || from === '') throw toUsageFault(new Error('--from: who sends it?'));
  const content = words.length > 0 ? words.join(' ') : (await io.input()).replace(/\r?\n$/, '');
  if (content === '') throw toUsageFault(new Error('there is no text: give it as an argument or on stdin'));
  return { to, from, urgent, content };
}

function parseArguments(args: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { to: { type: 'string' }, from: { type: 'string' }, urgent: { type: 'boolean', default: false } },
      allowPositionals: true,
    });
    return { ...values, words: positionals };
  } catch (error) {
    throw toUsageFault(error);
  }
}
