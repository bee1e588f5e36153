export { followCommand } from '../../ui-static/present.ts';
export type { ActionTable } from './action-routes.ts';
export { loadPage } from './assets.node.ts';
export type { HiveApi } from './hive-routes.ts';
export type { Asset, PageAssets } from './page-assets.ts';
export { type StatusOptions, type StatusServer, startStatus } from './server.node.ts';
export type { EventLog } from './stream.ts';
export { toWire, type WireMeta } from './to-wire.ts';
export type { CauseWire, HiveWire, PersonaWire, StatusWire } from './wire.ts';
