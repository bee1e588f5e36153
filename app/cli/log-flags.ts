/** The flags of the commands that print a log. They are loaded with every `hivebar daemon`, so nothing else is here. */
export const LOG_FLAGS = {
  follow: { type: 'boolean', short: 'f', help: 'wait for more lines until stopped' },
  lines: { type: 'number', value: 'N', short: 'n', least: 0, default: '50', help: 'start with the last N lines' },
  json: { type: 'boolean', help: 'print the lines as they are stored, as JSON' },
} as const;
