export {
  ANSWERS,
  type Channel,
  type ChannelHost,
  type ChannelListener,
  type ChannelState,
  findNotificationAction,
  type Notification,
  type NotificationAction,
  type NotificationButton,
  type NotificationKey,
  type NotificationPart,
  toDecisionKey,
  toMailKey,
  toOutageKey,
  toPermissionKey,
  toQuestionKey,
  toWaitKey,
} from './channel.ts';
export {
  createDesktopChannel,
  createOffBackend,
  createOsascriptBackend,
  createTextBackend,
  type OpenBackend,
} from './desktop.ts';
export {
  createPersonaRules,
  NOTIFY_SETTING,
  type NotifyKind,
  type PersonaRule,
  type PersonaRules,
} from './persona-rules.ts';
export { ChannelQueue } from './queue.ts';
export { CHANNELS, type ConfiguredChannel, createChannelsSchema, listConfiguredChannels } from './registry.ts';
