/** What surrounds a program, by name. */
export type ServerEnv = Readonly<Record<string, string | undefined>>;

/**
 * What a server needs to run, and nothing else: no variable of an agent's shell gets through, whatever it will be called.
 * Of brainclaw these are known: BRAINCLAW_AGENT, _AGENT_ID, _AGENT_NAME, _SESSION_ID, _CLAIM_ID, _PROJECT, _CWD,
 * _STORE_BOUNDARY, and CLAUDE_SESSION_ID, COPILOT_SESSION_ID, OPENCLAW_SESSION_ID.
 */
const PASSED: ReadonlySet<string> = new Set([
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LANGUAGE', 'TZ', 'TMPDIR'],
  // Windows
  ...['APPDATA', 'COMSPEC', 'HOMEDRIVE', 'HOMEPATH', 'LOCALAPPDATA', 'PATHEXT', 'PROGRAMDATA', 'PROGRAMFILES'],
  ...['SYSTEMDRIVE', 'SYSTEMROOT', 'TEMP', 'TMP', 'USERNAME', 'USERPROFILE', 'WINDIR'],
]);

/**
 * The whole environment of a server that is asked by an observer (observer protocol 8): it keeps its hands off the store
 * when it only reads, and what it is asked to do is done by `principal`. Without that name brainclaw would take the one
 * agent of a project that has only one for whoever asks.
 */
export function toObserverEnv(env: ServerEnv, principal: string): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    const known = name.toUpperCase();
    if (value !== undefined && (PASSED.has(known) || known.startsWith('LC_'))) passed[name] = value;
  }
  return { ...passed, BRAINCLAW_OBSERVER: '1', BRAINCLAW_AGENT_NAME: principal };
}
