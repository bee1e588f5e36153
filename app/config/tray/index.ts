export { type Checked, checkHive, type Problem } from './check-settings.ts';
export {
  isSettingName,
  openSettings,
  readSettingsFile,
  type SettingName,
  type SettingsFile,
  settingsPath,
} from './settings.node.ts';
export {
  type FurtherHive,
  type Opener,
  type Primary,
  type QuietHours,
  RESERVED_NAMES,
  SETTINGS,
  type Settings,
} from './settings.ts';
