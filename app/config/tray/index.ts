export { Primary, Settings } from './settings.ts';
export { openSettings, type SettingsFile } from './settings.node.ts';
