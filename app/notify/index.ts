export type { Announced, AnnouncedByKey, Announcements } from './announced.ts';
export { keptAnnouncements } from './announcements.node.ts';
export type { Banner, BannerKey, Opens } from './banner.ts';
export { chooseDriver, type Desk, noDriver } from './choose.node.ts';
export type { DriverListener, DriverState, Identity, NotifyDriver, OpenDriver } from './driver.ts';
export { type NotifyNeeds, startNotify } from './start-notify.ts';
export { spanOf } from './words.ts';
