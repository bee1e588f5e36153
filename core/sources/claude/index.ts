export { type AnnouncedSession, createSessionBell, type SessionBell } from './session-bell.ts';
export { type ClaudeOptions, type ClaudeSource, createClaudeSource } from './source.ts';
