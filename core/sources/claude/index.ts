export { type ClaudeOptions, type ClaudeSource, createClaudeSource } from './source.ts';
