import { defineCommand } from '../../core/command/index.ts';
import { displayName, displayText } from '../../core/format/index.ts';
import { act } from './act.ts';
import { askPerson } from './ask.node.ts';

/** A source may run a program for it, which has 30 s. */
const WITHIN_MS = 40_000;

export const command = defineCommand(
  {
    name: 'reply',
    about: [
      'Sends TEXT to the agent of a persona, as you and as you typed it, through the system of its inbox.',
      'It asks first, at a terminal, so that only a person replies. The source must be allowed to act: "actions": true in its setting.',
    ],
    flags: {
      message: {
        type: 'string',
        value: 'ID',
        help: 'the message in your own inbox that you answer: the key message of its event',
      },
      subject: { type: 'string', value: 'TEXT', help: 'the subject, where mail has one' },
    },
    positionals: {
      persona: { value: 'PERSONA', completes: 'persona', missing: 'PERSONA is missing: use the name of a persona' },
      words: { value: 'TEXT', many: true, missing: 'TEXT is missing: give what you want to say' },
    },
    notes: ['The answer says how far it came: sent, "sent, not confirmed", or "stored, not delivered".'],
    examples: [
      { run: 'hivebar reply claude-3f2a91c0 "use the other branch"', does: 'say it to a session of Claude Code' },
      { run: 'hivebar reply tickets-me --message T-7 "go ahead"', does: 'answer mail to you' },
    ],
  },
  async ({ persona, words, message, subject }, io) => {
    const text = words.join(' ');
    io.err(`${displayText(text)}\n`);
    if (!(await askPerson(`Send this to ${displayName(persona)} as you? [y/N] `, NOBODY))) {
      io.err('nothing was sent\n');
      return 1;
    }
    const given = { persona, text, ...(message === undefined ? {} : { message }) };
    const body = await act(io, 'reply', { ...given, ...(subject === undefined ? {} : { subject }) }, WITHIN_MS);
    if (body === null) return 1;
    const { result } = JSON.parse(body) as { readonly result: { readonly says: string } };
    io.out(`${displayName(persona)}: ${displayName(result.says)}\n`);
    return 0;
  },
);

const NOBODY = 'a reply is sent only by a person at a terminal; the page has it too: hivebar open';
