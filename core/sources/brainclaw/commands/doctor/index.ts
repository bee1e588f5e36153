export { examine } from './examine.ts';
export type { BrainclawFinding } from './journal.ts';
