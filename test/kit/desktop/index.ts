export { type Desktop, type DesktopOptions, startDesktop } from './desktop.ts';
export { desktopMissing, skipUnless, trayHelperMissing } from './missing.ts';
export type { Notifications } from './notifications.ts';
export { poll } from './poll.ts';
export type { NotificationRecord } from './recorder.ts';
export { type StrictWatcher, startStrictWatcher } from './strict-watcher.ts';
export type { MenuEntry, Pixmap, Tray, TrayIcon, TrayItem } from './tray.ts';
