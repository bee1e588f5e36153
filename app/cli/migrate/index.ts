export type { Decision } from './decide.ts';
export { intoHeadless } from './into-headless.ts';
export { intoTray } from './into-tray.ts';
