export { openAnnouncementStore } from './announcement-store.node.ts';
export { type Notifications, type NotificationTestResult, type NotifyNeeds, startNotify } from './start-notify.ts';
export { type AnnouncementStore, NOTIFY_RULES, type NotifyRules } from './state.ts';
