export { mailOf } from './mail.ts';
export type { Written } from './simulation.ts';
export { MARKER } from './store.node.ts';
export { leastRecords, STORY, type Story } from './story.ts';
export { type Simulated, writeSimulated } from './write.ts';
