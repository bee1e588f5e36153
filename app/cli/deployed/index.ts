export {
  ABSENT,
  type Deployment,
  listDeployedDirectories,
  type OldFile,
  readDeployment,
  readOldFile,
} from './directories.node.ts';
export { findPersona, formatBaseUrl, type OldIdentity } from './old-state.ts';
