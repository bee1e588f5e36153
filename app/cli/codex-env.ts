type CommandEnv = Readonly<Record<string, string | undefined>>;

/** What says who and where an agent is; of a process that serves many it says so of the first alone. */
const AGENT_VARIABLES = [
  'HIVEBAR_PERSONA',
  'HIVEBAR_SESSION',
  'TMUX',
  'TMUX_PANE',
  'TERM_SESSION_ID',
  'WT_SESSION',
] as const;

/** Without what tells of another agent, where a server of Codex started this process. */
export function removeForeign(env: CommandEnv, isInServer: () => boolean): CommandEnv {
  if (AGENT_VARIABLES.every((name) => env[name] === undefined) || !isInServer()) return env;
  const own = { ...env };
  for (const name of AGENT_VARIABLES) delete own[name];
  return own;
}

/** The environment of a command: Codex names the thread of each that it runs. */
export function toCommandEnv(env: CommandEnv, isInServer: () => boolean): CommandEnv {
  return findThread(env) === null ? env : removeForeign(env, isInServer);
}

/** The thread of Codex that this command was run in; null: none. */
export function findThread({ CODEX_THREAD_ID }: CommandEnv): string | null {
  return CODEX_THREAD_ID || null;
}
