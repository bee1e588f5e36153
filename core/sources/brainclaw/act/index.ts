export {
  type ProjectActionCall,
  toProjectActionCall,
} from './action-request.ts';
export { type ProjectActionResult, runProjectAction } from './action-runner.ts';
export { type ActionClient, type ActionClientOptions, createActionClient } from './client.ts';
export {
  isProjectAction,
  PROJECT_ACTIONS,
  type ProjectAction,
} from './project-actions.ts';
export { readSeed } from './read-seed.ts';
export { CLIENT_NAME, type ToolAnswer } from './session.ts';
export { formatShellLine } from './shell-line.ts';
export { formatToolCall, type McpToolCall } from './tool-call.ts';
