export { type Action, type Actions, createActions, type TrayControls } from './actions.ts';
export { evaluateHours, type Hours } from './local-time.node.ts';
export { openPreferenceStore, type PreferenceStore, reportPreferences } from './preference-store.node.ts';
