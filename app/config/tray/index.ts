export { openSettings, type SettingsFile } from './settings.node.ts';
export { type Primary, SETTINGS, type Settings } from './settings.ts';
