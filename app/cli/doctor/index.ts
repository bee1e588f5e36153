export { examine } from './check.ts';
export { listChecks } from './checks.ts';
export { createContext } from './doctor-context.node.ts';
export { quoteShellWord } from './finding.ts';
export { formatReport, formatReportJson, toExitCode } from './report.ts';
