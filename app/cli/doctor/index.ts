export { checksOf } from './checks.ts';
export { examine } from './examine.ts';
export { leaveSoon } from './leave-soon.node.ts';
export { exitOf, reportJson, reportText } from './report.ts';
export { realScene } from './scene.node.ts';
export { shellWord } from './shell-word.ts';
