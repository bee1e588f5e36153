/** One call of a tool of brainclaw's server. */
export interface McpToolCall {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, string | boolean>>;
}

/** A call as text that a person reads and copies: `bclaw_transition {"entity":"candidate",...}`. */
export const formatToolCall = ({ tool, arguments: args }: McpToolCall): string => `${tool} ${JSON.stringify(args)}`;

/** The call that asks for `board_summary`. It reads and changes nothing (observer protocol 6.1). */
export const BOARD_SUMMARY: McpToolCall = { tool: 'bclaw_context', arguments: { kind: 'board_summary' } };
