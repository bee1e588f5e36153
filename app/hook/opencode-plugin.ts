import { createHash } from 'node:crypto';
import { Fault } from '../../core/model/index.ts';
import { quoteShellWord } from './script.ts';

/** What stands in a plugin file of ours. */
export interface PluginFacts {
  /** The script of the hooks, absolute. */
  readonly script: string;
  /** Null when the variable HIVEBAR_PERSONA names it. */
  readonly persona: string | null;
}

/** Whose a file at the place of our plugin is. `changed`: we wrote it, and somebody else changed it. */
type PluginOwner =
  | { readonly is: 'ours'; readonly facts: PluginFacts }
  | { readonly is: 'changed' }
  | { readonly is: 'foreign' };

const NAME = '// Hivebar plugin for OpenCode';
const HEADER = /^\/\/ Hivebar plugin for OpenCode, ([0-9a-f]{16})\. [^\n]*\n/;

/** Formats the plugin. Apart from the two facts it is always the same. @param timeout the seconds that a hook may need */
export function formatPlugin({ script, persona }: PluginFacts, timeout: number): string {
  const body = createTemplate(timeout * 1000)
    .replace('@SCRIPT@', () => JSON.stringify(script))
    .replace('@PERSONA@', () => JSON.stringify(persona));
  return `${NAME}, ${digest(body)}. hivebar hook install writes it, and hivebar hook uninstall removes it.\n${body}`;
}

/** Finds whose a plugin file is: the first line of ours holds a digest of the rest, whichever version wrote it. */
export function findPluginOwner(text: string): PluginOwner {
  const header = HEADER.exec(text);
  if (header === null) return { is: text.startsWith(NAME) ? 'changed' : 'foreign' };
  const body = text.slice(header[0].length);
  const facts = { script: parseFact(body, 'SCRIPT'), persona: parseFact(body, 'PERSONA') };
  if (digest(body) !== header[1] || typeof facts.script !== 'string') return { is: 'changed' };
  return { is: 'ours', facts: { script: facts.script, persona: facts.persona } };
}

/** Formats what the plugin runs at the start of a session, as a shell would. */
export function formatPluginCommand({ script, persona }: PluginFacts): string {
  return `${quoteShellWord(script)} opencode SessionStart${persona === null ? '' : ` ${quoteShellWord(persona)}`}`;
}

/** @throws Fault `settings` for a file that is not ours alone: it is neither replaced nor removed */
export function requireOwnPlugin(text: string, path: string): void {
  const { is } = findPluginOwner(text);
  if (is === 'ours') return;
  const why = is === 'changed' ? 'it was changed after Hivebar wrote it' : 'Hivebar did not write it';
  const message = `${path} is left as it is: ${why}. Move it elsewhere and try again`;
  throw new Fault('settings', message, { is: 'machine', key: 'hook' });
}

const digest = (body: string): string => createHash('sha256').update(body).digest('hex').slice(0, 16);

function parseFact(body: string, name: string): string | null {
  try {
    const value: unknown = JSON.parse(new RegExp(`^const ${name} = (.*);$`, 'm').exec(body)?.[1] ?? 'null');
    return typeof value === 'string' ? value : null;
  } catch {
    return null; // its digest says that somebody changed it
  }
}

/**
 * The plugin: plain JavaScript that Bun and Node run, without a package. It runs the script of the hooks as other agent programs
 * do, with the fields of Claude Code on stdin (docs/guides/opencode.md).
 *
 * - Each file of the folder must export functions only, and every export is called as a plugin. So there is one.
 * - A message is shown after its other parts, because OpenCode sorts parts by id. `synthetic` keeps it out of what the person sees.
 * - Subagents have sessions of their own, which name their parent. They are shown nothing, and only what they ask for is reported.
 * - Without its agent and model a prompt would switch the session to the default ones.
 * - A waiter (waiter-script.ts) is a child of OpenCode. Its end with 2 begins a turn.
 *
 * A function, so that a bundle which writes no plugin does not contain it.
 */
const createTemplate = (
  withinMs: number,
): string => `// It shows the agent what waits in its inbox, says what the agent does, and wakes it for mail. Without Hivebar it does nothing.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';

const SCRIPT = @SCRIPT@;
const PERSONA = @PERSONA@;
const WITHIN_MS = ${withinMs};

const waiters = new Set();
process.on('exit', () => waiters.forEach((waiter) => waiter.kill()));

// OpenCode goes on whatever happens here.
const guard = (work) => async (...args) => {
  try {
    await work(...args);
  } catch {}
};

const parseText = (output) => {
  try {
    return JSON.parse(output).additionalContext || null;
  } catch {
    return null;
  }
};

export const Hivebar = async ({ client, directory }) => {
  if (!existsSync(SCRIPT)) return {};
  const owners = new Map();
  const sessions = new Map();

  const start = (event, stdio, env) => {
    const args = ['opencode', event, ...(PERSONA === null ? [] : [PERSONA])];
    return spawn(SCRIPT, args, { cwd: directory, stdio, env: { ...process.env, ...env } });
  };

  // Runs the hook of an event. Resolves with the text for the model; null: there is none.
  const ask = (id, event, more) =>
    new Promise((resolve) => {
      const child = start(event, ['pipe', 'pipe', 'ignore'], {});
      let output = '';
      const timer = setTimeout(() => {
        child.kill('SIGKILL');
        end(null);
      }, WITHIN_MS);
      const end = (text) => {
        clearTimeout(timer);
        resolve(text);
      };
      child.on('error', () => end(null));
      child.on('close', () => end(parseText(output)));
      child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
      child.stdin.on('error', () => {});
      child.stdin.end(JSON.stringify({ session_id: id, cwd: directory, hook_event_name: event, ...more }));
    }).catch(() => null);

  // The session of the main agent, and which of its subagents this one is; null: it is the main agent itself.
  const findOwner = (id) => {
    if (!owners.has(id)) owners.set(id, readOwner(id));
    return owners.get(id);
  };
  const readOwner = async (id) => {
    try {
      const { parentID } = (await client.session.get({ path: { id } })).data;
      return parentID ? { id: (await findOwner(parentID)).id, agent: id } : { id, agent: null };
    } catch (error) {
      owners.delete(id);
      throw error;
    }
  };

  // One thing after the other in each session.
  const inTurn = (session, work) => (session.queue = session.queue.then(work, work));

  const stopWaiting = (session) => {
    session.waiter?.kill();
    session.waiter = null;
  };

  const wait = (id, session) => {
    stopWaiting(session);
    const waiter = start('Wait', ['ignore', 'ignore', 'pipe'], { HIVEBAR_SESSION: id });
    session.waiter = waiter;
    waiters.add(waiter);
    let words = '';
    waiter.stderr.setEncoding('utf8').on('data', (text) => (words += text));
    waiter.on('error', () => waiters.delete(waiter));
    waiter.on('close', guard(async (code) => {
      waiters.delete(waiter);
      if (session.waiter === waiter) session.waiter = null;
      if (code !== 2 || session.works || words.trim() === '') return;
      const parts = [{ type: 'text', text: words.trim() }];
      await client.session.promptAsync({ path: { id }, body: { ...session.choice, parts } });
    }));
  };

  const rest = async (id, session) => {
    if (!session.works) return;
    session.works = false;
    session.questions.clear();
    const { failure } = session;
    // A person who interrupts is no failure.
    const hasFailed = failure && failure !== 'MessageAbortedError';
    await inTurn(session, () => (hasFailed ? ask(id, 'StopFailure', { error: failure }) : ask(id, 'Stop', {})));
    if (!session.works && !failure) wait(id, session);
  };

  const forget = async (id, session) => {
    sessions.delete(id);
    stopWaiting(session);
    await inTurn(session, () => ask(id, 'SessionEnd', {}));
  };

  const notify = (id, { agent, kind }) => ask(id, 'Notification', { notification_type: kind, ...(agent && { agent_id: agent }) });

  const question = (id, session, agent, type, { id: name }) => {
    const asked = { agent, kind: type === 'permission.asked' ? 'permission_prompt' : 'elicitation_dialog' };
    session.questions.set(name, asked);
    return inTurn(session, () => notify(id, asked));
  };

  const answered = (id, session, { requestID, permissionID }) => {
    const asked = session.questions.get(requestID ?? permissionID);
    if (asked === undefined) return;
    session.questions.delete(requestID ?? permissionID);
    return inTurn(session, async () => {
      await ask(id, 'PostToolUse', asked.agent && { agent_id: asked.agent });
      const [other] = session.questions.values();
      if (other !== undefined) await notify(id, other);
    });
  };

  const onSession = async (type, id, { status, error }) => {
    const session = sessions.get(id);
    if (session === undefined) return;
    if (type === 'session.error') session.failure = (error && error.name) || 'unknown';
    if (type === 'session.idle' || (type === 'session.status' && status.type === 'idle')) await rest(id, session);
    if (type === 'session.deleted') await forget(id, session);
  };

  const onQuestion = async (type, sessionID, properties) => {
    const { id, agent } = await findOwner(sessionID);
    const session = sessions.get(id);
    if (session === undefined) return;
    if (type.endsWith('.asked')) await question(id, session, agent, type, properties);
    else await answered(id, session, properties);
  };

  return {
    event: guard(async ({ event: { type, properties } }) => {
      const id = properties.sessionID ?? properties.info?.id;
      if (/^session\\.(?:idle|status|error|deleted)$/.test(type)) await onSession(type, id, properties);
      if (/^(?:permission|question)\\.(?:asked|replied|rejected)$/.test(type)) await onQuestion(type, id, properties);
    }),

    'chat.message': guard(async ({ sessionID, variant }, { message, parts }) => {
      const { id, agent } = await findOwner(sessionID);
      if (agent !== null) return;
      const isNew = !sessions.has(id);
      if (isNew) sessions.set(id, { questions: new Map(), queue: Promise.resolve(), waiter: null });
      const session = sessions.get(id);
      const { providerID, modelID } = message.model;
      const choice = { agent: message.agent, model: { providerID, modelID }, ...(variant && { variant }) };
      Object.assign(session, { works: true, failure: null, choice });
      stopWaiting(session);
      const more = { model: modelID };
      const texts = await inTurn(session, async () => [
        isNew ? await ask(id, 'SessionStart', { ...more, source: 'startup' }) : null,
        await ask(id, 'UserPromptSubmit', more),
      ]);
      const text = texts.filter((shown) => shown !== null).join('\\n');
      if (text === '') return;
      const last = parts.at(-1)?.id ?? 'prt_' + message.id;
      parts.push({ id: last + '0', sessionID, messageID: message.id, type: 'text', text, synthetic: true });
    }),

    'tool.execute.after': guard(async ({ sessionID, tool }, result) => {
      const { id, agent } = await findOwner(sessionID);
      const session = sessions.get(id);
      if (agent !== null || session === undefined) return;
      const isText = typeof result.output === 'string';
      if (!isText && !Array.isArray(result.content)) return; // there is no place for a text
      const text = await inTurn(session, () => ask(id, 'PostToolUse', { tool_name: tool }));
      if (text === null) return;
      if (isText) result.output += '\\n' + text;
      else result.content.push({ type: 'text', text });
    }),

    dispose: guard(async () => sessions.forEach(stopWaiting)),
  };
};
`;
