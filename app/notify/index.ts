export type { Announced, AnnouncedByKey, Announcements } from './announced.ts';
export { keptAnnouncements } from './announcements.node.ts';
export type { Banner, BannerKey, Button, Wanted } from './banner.ts';
export { chooseDriver, type Desk, noDriver } from './choose.node.ts';
export type { DriverListener, DriverState, Identity, NotifyDriver, OpenDriver, Part } from './driver.ts';
export { type Notifications, type NotifyNeeds, startNotify, type Tested } from './start-notify.ts';
export { RULES, type Rules } from './state.ts';
