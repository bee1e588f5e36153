import { defineCommand, toUsageFault } from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';
import { findOwnDirs } from '../../core/state/index.ts';
import { refuseMisspelled } from '../hook/index.ts';
import { openSessionStore } from '../open/index.ts';
import { runWithHive } from './open-local-hive.ts';

export const command = defineCommand(
  {
    name: 'send',
    about: ['Puts a message into the local hive. It is stored when the command ends, even while hivebar is closed.'],
    flags: {
      to: { type: 'string', value: 'PERSONA', completes: 'persona', help: 'who gets it' },
      from: { type: 'string', value: 'PERSONA', completes: 'persona', help: 'who sends it' },
      urgent: { type: 'boolean', help: 'mark it as urgent' },
      create: { type: 'boolean', help: 'send also to a new name that is close to a known one' },
    },
    positionals: { words: { value: 'TEXT', optional: true, many: true } },
    notes: ['Without TEXT the message is read from stdin.'],
    examples: [
      { run: 'hivebar send --to ada --from me "please review"', does: 'one message' },
      { run: 'git log -1 | hivebar send --to ada --from ci --urgent', does: 'text from stdin, marked urgent' },
    ],
  },
  async ({ to, from, urgent, create, words }, io) => {
    if (to === undefined || to === '') throw toUsageFault(new Error('--to is missing: use the name of the recipient'));
    if (from === undefined || from === '')
      throw toUsageFault(new Error('--from is missing: use the name of the sender'));
    const content = words.length > 0 ? words.join(' ') : (await io.input()).replace(/\r?\n$/, '');
    if (content === '') throw toUsageFault(new Error('the text is missing: give it as an argument or on stdin'));
    const mail = { to, from, urgent, content };
    const sent = await runWithHive(io, 'hivebar send', null, true, (hive, db) => {
      if (!create)
        refuseMisspelled(
          to,
          { hive, sessions: openSessionStore(db), config: findOwnDirs({ ...io.env }).config },
          CREATE,
        );
      return hive.sendNow(mail);
    });
    io.out(`sent ${sent.id} to ${displayName(sent.to)}\n`);
    return 0;
  },
);

/** How a sender says that a name which is close to a known one is meant. */
export const CREATE = 'Send with --create';
