export { simulateMail } from './mail.ts';
export type { SimulationSummary } from './simulation.ts';
export { MARKER } from './store.node.ts';
export { countLeastRecords, type SimulationStory, STORY } from './story.ts';
export { type SimulatedProject, writeSimulatedProject } from './write.ts';
