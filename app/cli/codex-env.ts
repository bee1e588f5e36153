type Env = Readonly<Record<string, string | undefined>>;

/** What says who and where an agent is; of a process that serves many it says so of the first alone. */
const OF_ONE_AGENT = [
  'HIVEBAR_PERSONA',
  'HIVEBAR_SESSION',
  'TMUX',
  'TMUX_PANE',
  'TERM_SESSION_ID',
  'WT_SESSION',
] as const;

/** Without what tells of another agent, where a server of Codex started this process. */
export function withoutForeign(env: Env, isInServer: () => boolean): Env {
  if (OF_ONE_AGENT.every((name) => env[name] === undefined) || !isInServer()) return env;
  const own = { ...env };
  for (const name of OF_ONE_AGENT) delete own[name];
  return own;
}

/** The environment of a command: Codex names the thread of each that it runs. */
export function commandEnv(env: Env, isInServer: () => boolean): Env {
  return findThread(env) === null ? env : withoutForeign(env, isInServer);
}

/** The thread of Codex that this command was run in; null: none. */
export function findThread({ CODEX_THREAD_ID }: Env): string | null {
  return CODEX_THREAD_ID || null;
}
