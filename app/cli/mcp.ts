import { defineCommand } from '../../core/command/index.ts';

export const command = defineCommand(
  {
    name: 'mcp',
    about: [
      'Serves the inbox of the agent that starts it over stdin and stdout, by the Model Context Protocol (docs/guides/mcp.md).',
      'Agent programs start it; it works while hivebar is closed, and needs no token.',
    ],
    flags: {
      channel: {
        type: 'boolean',
        help: 'ring when something arrives: a notification for the channel mode of Claude Code, without any mail text',
      },
    },
    notes: ['It ends when stdin ends.'],
    examples: [
      { run: 'claude mcp add hivebar -- hivebar mcp', does: 'adds it to Claude Code' },
      { run: 'codex mcp add hivebar -- hivebar mcp', does: 'adds it to Codex' },
    ],
  },
  async ({ channel }, io) => {
    const { runMcpServer } = await import('./mcp/index.ts');
    return await runMcpServer(io, { rings: channel });
  },
);
