import { LARGE_JSON, parseJson } from '../model/index.ts';
import { isQuestionTool } from './session-report.ts';

/**
 * A tool call that an agent program asks its person about, as every surface shows it. The text is exact: every field of the call is in
 * it, nothing is left out or reordered, and a character that a reader cannot see is shown by its number.
 */
export interface PermissionCall {
  readonly tool: string;
  readonly text: string;
  /** How many characters of the call are not in `text`. A call that is cut cannot be allowed, because nobody saw all of it. */
  readonly cut: number;
}

/** A person's answer to a permission prompt. `terminal`: they answer in the dialog of the agent program. */
export type PermissionAnswer = 'allow' | 'deny' | 'terminal';

/** The most characters of a call that are shown. */
export const MOST_PERMISSION_CHARS = 2000;
const TOOL_CHARS = 200;

/** The fields that say most about a call come first. */
const FIRST_FIELDS = ['command', 'cmd', 'file_path', 'path', 'url'];

/**
 * How long the hook of each agent program waits, where it takes an answer. Claude Code shows its own dialog meanwhile, and takes the
 * answer that comes first. Codex shows its dialog only after the hook, and gives the hook ten seconds.
 */
const WAITS_MS: Readonly<Record<string, number>> = { claude: 590_000, codex: 8000 };

/** Returns how long a hook of this agent program waits for a person; null when it takes no answer. */
export const findPermissionWait = (harness: string): number | null =>
  Object.hasOwn(WAITS_MS, harness) ? (WAITS_MS[harness] ?? null) : null;

/**
 * Parses the call that a hook PermissionRequest asks about. Null: the question cannot be answered with yes or no, or its agent program
 * takes no answer.
 */
export function parsePermissionCall(harness: string, stdin: string): PermissionCall | null {
  if (findPermissionWait(harness) === null) return null;
  const { tool_name: tool, tool_input: input } = parseJson(stdin, LARGE_JSON) as Readonly<Record<string, unknown>>;
  if (typeof tool !== 'string' || tool === '' || tool.length > TOOL_CHARS || isQuestionTool(tool)) return null;
  const isRecord = typeof input === 'object' && input !== null && !Array.isArray(input);
  const fields = isRecord ? formatFields(input as Readonly<Record<string, unknown>>) : [formatValue(input ?? null)];
  const whole = fields.map(({ text }) => text).join('\n');
  const text = whole.length <= MOST_PERMISSION_CHARS ? whole : cutText(whole);
  const left = fields.reduce((sum, field) => sum + field.left, 0);
  return { tool: showUnseen(tool).replaceAll('\n', '\\u000a'), text, cut: whole.length - text.length + left };
}

/** Cuts between characters. */
function cutText(whole: string): string {
  return whole.slice(0, MOST_PERMISSION_CHARS).replace(/[\ud800-\udbff]$/, '');
}

/** `left`: how many characters of a long value are not in `text`, and will not be shown. */
interface FormattedField {
  readonly text: string;
  readonly left: number;
}

function formatFields(input: Readonly<Record<string, unknown>>): readonly FormattedField[] {
  const names = Object.keys(input);
  const first = FIRST_FIELDS.filter((name) => names.includes(name));
  return [...first, ...names.filter((name) => !first.includes(name))].map((name) => {
    const { text, left } = formatValue(input[name]);
    return { text: `${formatKey(name)}: ${text}`, left };
  });
}

const formatKey = (name: string): string => (/^\w+$/.test(name) ? name : showUnseen(JSON.stringify(name)));

/** Further lines of a value are indented, so that none of them can pose as a field. */
function formatValue(value: unknown): FormattedField {
  const whole = typeof value === 'string' ? value : JSON.stringify(value);
  const shown = whole.slice(0, MOST_PERMISSION_CHARS + 1); // a file of megabytes is not looked through
  return { text: showUnseen(shown.toWellFormed()).replaceAll('\n', '\n    '), left: whole.length - shown.length };
}

/** Controls, format characters, fillers, and blanks that only look like a space. Line ends and tabs keep their meaning. */
let unseen: RegExp | null = null;

function showUnseen(text: string): string {
  unseen ??= /(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800]|(?! )\p{Zs}/gu;
  return text.replace(unseen, (char) => {
    const code = (char.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
  });
}

/** What the model reads after a denial. */
const DENIED = 'The person denied this in Hivebar.';

/**
 * Formats what the hook PermissionRequest prints, in the keys that Claude Code and Codex both accept. Neither input nor permissions are
 * ever changed, so an allowed call is the one that was shown.
 */
export function formatPermissionReply(answer: Exclude<PermissionAnswer, 'terminal'>): string {
  const decision = answer === 'allow' ? { behavior: answer } : { behavior: answer, message: DENIED };
  return `${JSON.stringify({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } })}\n`;
}
