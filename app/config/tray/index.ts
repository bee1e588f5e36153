export {
  checkAddress,
  checkSettings,
  checkSettingsBytes,
  type SettingsCheck,
  type SettingsProblem,
} from './check-settings.ts';
export { addHive, type HiveToAdd, removeHive } from './hives.ts';
export { createLiveSettings, type LiveSettings, type SettingsChange } from './live-settings.ts';
export {
  getSettingsPath,
  isSettingName,
  openSettings,
  readSettingsFile,
  type SettingName,
  type SettingsFile,
} from './settings.node.ts';
export {
  appliesAtNextStart,
  type OpenerConfig,
  type Primary,
  type QuietHoursSetting,
  SETTINGS,
  type Settings,
} from './settings.ts';
export { watchSettings } from './watch-settings.node.ts';
