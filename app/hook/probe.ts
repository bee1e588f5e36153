/** With this variable the command in the settings prints `PROBE_ANSWER` and does nothing else, so that it can be tested. */
export const PROBE = 'HIVEBAR_HOOK_PROBE';
export const PROBE_ANSWER = 'hivebar hook: it runs';
