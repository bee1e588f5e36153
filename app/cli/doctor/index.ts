export { listChecks } from './checks.ts';
export { createContext } from './doctor-context.node.ts';
export { examine } from './examine.ts';
export { leaveSoon } from './leave-soon.node.ts';
export { formatReport, formatReportJson, toExitCode } from './report.ts';
export { quoteShellWord } from './shell-word.ts';
