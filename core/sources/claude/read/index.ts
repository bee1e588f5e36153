export { listNames, type ReadCalls, readBytes, readWhole, tryStat } from './files.ts';
export { parseTeamInbox, type TeamInboxContent } from './inbox-file.ts';
export { type ProcessSign, type ReadProcess, readEnvironment, readProcess } from './processes.node.ts';
export { isSessionFileName, parseSessionFile, type SessionFile } from './session-file.ts';
export {
  type MessageKind,
  parseTeamConfig,
  parseTyped,
  readKind,
  type TeamConfig,
  type TeamMember,
  type TeamMessage,
} from './team-files.ts';
export {
  findTranscriptEnd,
  parseTranscriptLine,
  readLastModel,
  readTranscript,
  type TranscriptMessage,
  type TranscriptPosition,
} from './transcript.ts';
