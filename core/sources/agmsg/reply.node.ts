import { join } from 'node:path';
import type { SourceHost } from '../module.ts';
import { createReplyFault, explainRefusal, runReplyProgram } from '../reply-program.node.ts';
import type { Reply, ReplyResult } from '../source.ts';
import type { Agent, AgmsgTeam } from './installations.ts';

/** A member of a team that a person says something to, in its installation. */
export interface AgmsgTarget {
  readonly root: string;
  readonly team: AgmsgTeam;
  readonly agent: Agent;
}

/** Has agmsg send what a person typed. @throws Fault */
export type ReplyToAgent = (target: AgmsgTarget, reply: Reply, signal: AbortSignal) => Promise<ReplyResult>;

/** The member of a team that stands for the person (agmsg contract 5). */
const PERSON = 'human';

/** Runs `scripts/send.sh` of an installation, with the text on its stdin. Nothing is written past agmsg. */
export function createAgentReply({ env }: Pick<SourceHost, 'env'>): ReplyToAgent {
  return async ({ root, team, agent }, { text, message, subject }, signal) => {
    if (message !== null || subject !== null)
      throw createReplyFault('usage', 'agmsg has neither replies to one message nor subjects: leave them out');
    if (agent.name === PERSON) throw createReplyFault('usage', `${PERSON} is you: name the agent that you write to`);
    if (!team.agents.some(({ name }) => name === PERSON))
      throw createReplyFault(
        'usage',
        `the team ${team.name} has no member ${PERSON}: run ${join(root, 'scripts', 'join.sh')} ${team.name} ${PERSON} other / once`,
      );
    const end = await runReplyProgram(
      {
        ...{
          name: 'send.sh',
          file: join(root, 'scripts', 'send.sh'),
          args: [team.name, PERSON, agent.name, '--stdin'],
        },
        ...{ cwd: root, env: { ...env }, input: text, missing: 'install agmsg again' },
      },
      signal,
    );
    if (end.code !== 0) throw createReplyFault('exec-failed', explainRefusal('send.sh of agmsg', end));
    return { is: 'stored', says: 'stored, not delivered: the agent has to look' };
  };
}
