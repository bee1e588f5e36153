export { checkHive, type SettingsCheck, type SettingsProblem } from './check-settings.ts';
export {
  getSettingsPath,
  isSettingName,
  openSettings,
  readSettingsFile,
  type SettingName,
  type SettingsFile,
} from './settings.node.ts';
export {
  type FurtherHive,
  type OpenerConfig,
  type Primary,
  type QuietHoursSetting,
  RESERVED_NAMES,
  SETTINGS,
  type Settings,
} from './settings.ts';
