export { countLeastRecords, type SimulationStory, STORY, simulateMail } from './items.ts';
export type { SimulationSummary } from './simulation.ts';
export { MARKER } from './store.node.ts';
export { type SimulatedProject, writeSimulatedProject } from './write.ts';
