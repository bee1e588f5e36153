export { openSettings, type SettingsFile } from './settings.node.ts';
export { Primary, Settings } from './settings.ts';
