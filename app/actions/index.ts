export { type Action, type Actions, createActions } from './actions.ts';
export { evaluateHours, type Hours } from './local-time.node.ts';
export { openPreferenceStore, type PreferenceStore, reportPreferences } from './preference-store.node.ts';
export type { TrayControls } from './tray-controls.ts';
