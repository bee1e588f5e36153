export type { HiveClient, HiveWindow } from './client.ts';
export {
  createHttpHive,
  type Fetcher,
  type Hive,
  type HttpHiveOptions,
  parseHiveUrl,
  parseInboxUrl,
} from './http-hive.ts';
export { checkHive, type FurtherHive, listConfiguredHives } from './settings.ts';
export {
  createKijitoSource,
  formatIdentity,
  type InboxIdentity,
  isSameIdentity,
  KIJITO_KIND,
  type KijitoOptions,
  type Members,
  toInboxIdentity,
  toKijitoPersona,
} from './source.ts';
