export type { HiveClient, HiveWindow } from './client.ts';
export { type Hive, parseHiveUrl, parseInboxUrl } from './hive.ts';
export { createHttpHive, type Fetcher, type HttpHiveOptions } from './http-hive.ts';
export { formatIdentity, type InboxIdentity, isSameIdentity, toInboxIdentity } from './identity.ts';
export { checkHive, type FurtherHive, listConfiguredHives } from './settings.ts';
export { createKijitoSource, KIJITO_KIND, type KijitoOptions, type Members, toKijitoPersona } from './source.ts';
