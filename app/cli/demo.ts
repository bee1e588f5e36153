import { defineCommand, type Io } from '../../core/command/index.ts';
import { formatQuantity } from '../../core/format/index.ts';
import { openDecisionCounter, parseNewDecision, removeDecisions } from '../../core/inbox/decisions/index.ts';
import { openSessionStore } from '../open/index.ts';
import { runWithDecisions, runWithHive } from './open-local-hive.ts';
import { removeWhileStopped } from './persona.ts';
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
    flags: { remove: { type: 'boolean', help: 'remove what demo made, and nothing else' } },
    examples: [
      { run: 'hivebar demo', does: 'see badges, notifications, event files and a decision at work' },
      { run: 'hivebar demo --remove', does: 'take it away again' },
    ],
  },
  async ({ remove }, io) => {
    if (remove) return await removeDemo(io);
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

/** Personas stay while they have anything else: mail, a decision or a session. */
async function removeDemo(io: Io): Promise<number> {
  const asked = await runWithDecisions(io, ({ decisions, db }) => {
    const ours = decisions
      .list({ persona: QUESTION.persona, onlyOpen: false, limit: Number.MAX_SAFE_INTEGER })
      .filter(({ prompt }) => prompt === QUESTION.prompt)
      .map(({ id }) => id);
    for (const id of ours) decisions.cancel(id, 'demo', null); // closes its gate
    removeDecisions(db, QUESTION.persona, QUESTION.prompt);
    return ours;
  });
  const { messages, empty } = await runWithHive(io, 'hivebar demo', null, true, (hive, db) => {
    const answers = asked.map((id) => `hivebar:decision:${id}`);
    const names = [...new Set(MAIL.map(({ to }) => to))];
    const messages = names.reduce((sum, name) => {
      const ids = [...hive.older(name, null)]
        .filter(({ from, content }) =>
          MAIL.some((mail) => mail.to === name && mail.from === from && mail.content === content),
        )
        .map(({ id }) => id);
      const answered = hive.items
        .list(name, 'all', Number.MAX_SAFE_INTEGER)
        .filter(({ dedupKey }) => answers.includes(dedupKey));
      hive.remove(
        name,
        answered.map(({ id }) => id),
      );
      return sum + hive.remove(name, ids);
    }, 0);
    const sessions = openSessionStore(db).listAll();
    const countDecisions = openDecisionCounter(db);
    const exists = new Set(hive.personas().map(({ name }) => name));
    const isEmpty = (name: string): boolean =>
      exists.has(name) &&
      hive.list(name, 1).length === 0 &&
      countDecisions(name) === 0 &&
      !sessions.some(({ persona }) => persona === name);
    return { messages, empty: names.filter(isEmpty) };
  });
  if (empty.length > 0) await removeWhileStopped(io, empty);
  const personas = empty.length === 0 ? '' : `, and ${empty.join(', ')}, who had nothing else`;
  io.out(`removed ${formatQuantity(messages, 'message')} and ${formatQuantity(asked.length, 'decision')}${personas}\n`);
  return 0;
}
