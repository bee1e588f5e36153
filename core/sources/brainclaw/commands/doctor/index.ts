export { examine } from './examine.ts';
export type { BrainclawFinding } from './finding.ts';
