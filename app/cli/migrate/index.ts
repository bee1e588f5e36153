export type { MigrationDecision } from './decide.ts';
export { migrateToHeadless } from './headless-migration.ts';
export { migrateToTray } from './tray-migration.ts';
