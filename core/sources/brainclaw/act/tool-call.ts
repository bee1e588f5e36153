/** One call of a tool of brainclaw's server. */
export interface McpToolCall {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, string | boolean>>;
}

/** A call as a person reads and copies it: `bclaw_transition {"entity":"candidate",...}`. */
export const formatToolCall = ({ tool, arguments: args }: McpToolCall): string => `${tool} ${JSON.stringify(args)}`;

/** What `board_summary` is asked by: a reading that changes nothing (observer protocol 6.1). */
export const BOARD_SUMMARY: McpToolCall = { tool: 'bclaw_context', arguments: { kind: 'board_summary' } };
