export { openTray, type TrayNeeds } from './choose.node.ts';
export { type ClipboardNeeds, type CopyResult, copyText } from './clipboard.node.ts';
export { formatIconPack, ICON_PACK, type IconTheme, openIcons, type TrayIcons } from './icons.node.ts';
export { buildTrayModel } from './menu.ts';
export {
  chooseIcon,
  type IconName,
  type MenuAction,
  type MenuEntry,
  type TrayDriver,
  type TrayEvents,
  type TrayModel,
} from './model.ts';
export { renderTray } from './render.ts';
