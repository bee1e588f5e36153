export { openTray, type TrayNeeds } from './choose.node.ts';
export { type ClipboardNeeds, type Copied, copyText } from './clipboard.node.ts';
export type { TrayDriver, TrayEvents } from './driver.ts';
export { type IconName, iconOf } from './icon.ts';
export { type IconTheme, openIcons, type TrayIcons } from './icons.node.ts';
export { trayModel } from './menu.ts';
export type { MenuEntry, TrayModel, Wanted } from './model.ts';
export { renderTray } from './render.ts';
