/** With this variable the command in the settings says `PROBE_ANSWER` and does nothing else: so that it can be tried. */
export const PROBE = 'HIVEBAR_HOOK_PROBE';
export const PROBE_ANSWER = 'hivebar hook: it runs';
