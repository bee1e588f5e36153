export { ABSENT, type Deployed, deployedDirectories, fileAt, lookInto, type OldFile } from './directories.node.ts';
export { baseOf, type OldIdentity, personaIn } from './old-state.ts';
