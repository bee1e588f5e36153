export { examine } from './examine.ts';
export type { Finding } from './finding.ts';
