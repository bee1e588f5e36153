/** Environment variables by name. */
export type ServerEnv = Readonly<Record<string, string | undefined>>;

/**
 * The variables that a server needs to run. No other variable of an agent's shell gets through, whatever its name. Of brainclaw
 * these are known: BRAINCLAW_AGENT, _AGENT_ID, _AGENT_NAME, _SESSION_ID, _CLAIM_ID, _PROJECT, _CWD, _STORE_BOUNDARY, and
 * CLAUDE_SESSION_ID, COPILOT_SESSION_ID, OPENCLAW_SESSION_ID.
 */
const PASSED: ReadonlySet<string> = new Set([
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LANGUAGE', 'TZ', 'TMPDIR'],
  // Windows
  ...['APPDATA', 'COMSPEC', 'HOMEDRIVE', 'HOMEPATH', 'LOCALAPPDATA', 'PATHEXT', 'PROGRAMDATA', 'PROGRAMFILES'],
  ...['SYSTEMDRIVE', 'SYSTEMROOT', 'TEMP', 'TMP', 'USERNAME', 'USERPROFILE', 'WINDIR'],
]);

/**
 * The whole environment of a server that an observer asks (observer protocol 8). The server does not touch the store when it only
 * reads, and `principal` is the one who acts. Without that name brainclaw would take a project's only agent for the caller.
 */
export function toObserverEnv(env: ServerEnv, principal: string): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    const known = name.toUpperCase();
    if (value !== undefined && (PASSED.has(known) || known.startsWith('LC_'))) passed[name] = value;
  }
  return { ...passed, BRAINCLAW_OBSERVER: '1', BRAINCLAW_AGENT_NAME: principal };
}
