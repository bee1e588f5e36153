export { openAnnouncementStore } from './announcement-store.node.ts';
export type { AnnouncedOutage, AnnouncedOutages, AnnouncementStore } from './announcements.ts';
export type { Banner, BannerAction, BannerButton, BannerKey } from './banner.ts';
export type {
  BannerPart,
  ChannelListener,
  ChannelState,
  DesktopIdentity,
  NotifyChannel,
  OpenChannel,
} from './channel.ts';
export { type ChannelOptions, chooseChannel, createOffChannel } from './choose.node.ts';
export { type Notifications, type NotificationTestResult, type NotifyNeeds, startNotify } from './start-notify.ts';
export { NOTIFY_RULES, type NotifyRules } from './state.ts';
