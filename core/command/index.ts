export {
  type Command,
  type CommandEntry,
  type CommandTable,
  defineCommand,
  type Io,
} from './command.ts';
export {
  formatExpected,
  joinWithOr,
  listFlags,
  parseCommandLine,
  parseDuration,
  toUsageFault,
} from './parse.ts';
export type {
  CommandSchema,
  Completion,
  FlagSchema,
  FlagSchemas,
  ParsedValues,
  PositionalSchema,
  PositionalSchemas,
  ValueFlagSchema,
  VerbSchema,
} from './schema.ts';
export { formatFlag, formatFlagHelp, formatUsage, type HelpSection, listHelpSections } from './usage.ts';
