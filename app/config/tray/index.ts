export { checkAddress, checkSettings, type SettingsCheck, type SettingsProblem } from './check-settings.ts';
export {
  getSettingsPath,
  isSettingName,
  openSettings,
  readSettingsFile,
  type SettingName,
  type SettingsFile,
} from './settings.node.ts';
export {
  type OpenerConfig,
  type Primary,
  type QuietHoursSetting,
  SETTINGS,
  type Settings,
} from './settings.ts';
