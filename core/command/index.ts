export {
  type Command,
  type CommandEntry,
  type CommandGroup,
  type CommandTable,
  defineCommand,
  formatExpected,
  type Io,
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
