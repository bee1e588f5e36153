import { defineCommand } from '../../core/command/index.ts';
import { parseNewDecision } from '../../core/inbox/decisions/index.ts';
import { runWithDecisions, runWithHive } from './open-local-hive.ts';
import { findTray } from './running-tray.node.ts';

const MAIL = [
  {
    to: 'ada',
    from: 'bo',
    urgent: false,
    content: 'The parser branch is ready. Could you look at the error paths before I merge?',
  },
  { to: 'ada', from: 'ci', urgent: true, content: 'main is red: 2 of 418 tests fail since your last push.' },
  { to: 'bo', from: 'ada', urgent: false, content: 'Reviewed. One question about the retry limit, otherwise fine.' },
  {
    to: 'cyrus',
    from: 'ada',
    urgent: false,
    content: 'Please write the release notes for 0.4 when you have a moment.',
  },
  { to: 'cyrus', from: 'bo', urgent: false, content: 'The benchmark machine is free until Thursday.' },
  { to: 'cyrus', from: 'dora', urgent: false, content: 'Schema change landed; rebase before you go on.' },
  { to: 'dora', from: 'cyrus', urgent: false, content: 'Thanks, rebased. All green here.' },
] as const;

/** The persona whose mail is already read, so that the demo shows a quiet row too. */
const QUIET = 'dora';

const QUESTION = parseNewDecision({
  persona: 'ada',
  prompt: 'How shall I merge the parser branch?',
  context: 'It drops the old shape of errors, which two callers still read.',
  options: [
    { id: 'both', label: 'Keep both shapes for one release' },
    { id: 'now', label: 'Change the callers now' },
  ],
  fallback: 'both',
});

export const command = defineCommand(
  {
    name: 'demo',
    about: [
      'Sends seven messages between four personas of the local hive: ada, bo, cyrus and dora. Run it again for more.',
      'ada also asks for a decision, unless one of hers is still open.',
    ],
    examples: [{ run: 'hivebar demo', does: 'see badges, notifications, event files and a decision at work' }],
  },
  async (_values, io) => {
    await runWithHive(io, 'hivebar demo', null, true, (hive) => {
      for (const mail of MAIL) hive.sendNow(mail);
      hive.markRead(QUIET, 'all');
    });
    const decision = await runWithDecisions(io, ({ decisions }) => {
      const [open] = decisions.list({ persona: QUESTION.persona, onlyOpen: true, limit: 1 });
      return open ?? decisions.create(QUESTION);
    });
    const see =
      (await findTray(io.env)) === null
        ? 'hivebar, then hivebar open in another terminal'
        : 'hivebar status, hivebar open';
    io.out(
      `sent 7 messages to ada, bo, cyrus and dora\nsee them with: ${see}\nor without it: hivebar inbox list ada\n`,
    );
    io.out(`ada asks for a decision; answer with: hivebar decision respond ${decision.id} --select both\n`);
    return 0;
  },
);
