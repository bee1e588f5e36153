type CommandEnv = Readonly<Record<string, string | undefined>>;

/** Variables that say which agent runs and where. In a process that serves many agents they describe only the first. */
const AGENT_VARIABLES = [
  'HIVEBAR_PERSONA',
  'HIVEBAR_SESSION',
  'TMUX',
  'TMUX_PANE',
  'TERM_SESSION_ID',
  'WT_SESSION',
] as const;

/** Removes the variables that describe another agent, when a server of Codex started this process. */
export function removeForeign(env: CommandEnv, isInServer: () => boolean): CommandEnv {
  if (AGENT_VARIABLES.every((name) => env[name] === undefined) || !isInServer()) return env;
  const own = { ...env };
  for (const name of AGENT_VARIABLES) delete own[name];
  return own;
}

/** Returns the environment of a command. Codex sets the thread for each command that it runs. */
export function toCommandEnv(env: CommandEnv, isInServer: () => boolean): CommandEnv {
  return findThread(env) === null ? env : removeForeign(env, isInServer);
}

/** Returns the Codex thread in which this command runs; null when there is none. */
export function findThread({ CODEX_THREAD_ID }: CommandEnv): string | null {
  return CODEX_THREAD_ID || null;
}
