export { type ActionClient, type ActionClientOptions, createActionClient } from './client.ts';
export {
  formatShellLine,
  isProjectAction,
  PROJECT_ACTIONS,
  type ProjectAction,
  type ProjectActionCall,
  type ProjectActionResult,
  readSeed,
  runProjectAction,
  toProjectActionCall,
} from './project-actions.ts';
export { CLIENT_NAME, formatToolCall, type McpToolCall, type ToolAnswer } from './session.ts';
