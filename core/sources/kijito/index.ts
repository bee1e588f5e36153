export type { HiveClient, Window } from './client.ts';
export { type Hive, hiveAt, singleInbox } from './hive.ts';
export { type Fetcher, type HttpHiveOptions, httpHive } from './http-hive.ts';
export { type Identity, identityOf, identityText, sameIdentity } from './identity.ts';
export { KIJITO_KIND, type KijitoOptions, kijitoPersona, kijitoSource, type Members } from './source.ts';
