export { examine, formatReport, formatReportJson, toExitCode } from './check.ts';
export { listChecks } from './checks.ts';
export { createContext } from './doctor-context.node.ts';
export { quoteShellWord } from './doctor-context.ts';
