/** The values of the usual message header. Anybody can write one, so it is shown and never trusted. */
export interface GardenEnvelope {
  readonly from: string;
  /** The text after `session:`, which begins with a garden id when the sender is a citizen. */
  readonly session: string;
  readonly at: string;
  readonly wantsReply: boolean;
  /** The text after the rule. */
  readonly text: string;
}

const FIRST = '[entwurf received ⟵]';
const LABELS = ['from', 'session', 'at', 'wants reply'] as const;
const RULE = '─'.repeat(40);
const LONGEST = 200;
/** The width of the longest label, with its colon. */
const WIDTH = 12;

/** Parses the header of six lines in front of a body (garden contract 2); null when the body does not begin with exactly that. */
export function parseEnvelope(body: string): GardenEnvelope | null {
  const lines = body.split('\n', 2 + LABELS.length);
  if (lines[0] !== FIRST || lines[1 + LABELS.length] !== RULE) return null;
  const [from, session, at, reply] = LABELS.map((label, index) => parseLabelled(lines[index + 1] ?? '', label));
  if (from == null || session == null || at == null || (reply !== 'yes' && reply !== 'no')) return null;
  const header = lines.join('\n').length + 1;
  return { from, session, at, wantsReply: reply === 'yes', text: body.slice(header) };
}

/**
 * A body with the usual header in front, so that its reader knows whom to answer. Characters that would break a line are removed.
 */
export function formatEnvelope({ text, ...head }: GardenEnvelope): string {
  const values = [head.from, head.session, head.at, head.wantsReply ? 'yes' : 'no'];
  const lines = LABELS.map((label, index) => {
    const value = [...(values[index] ?? '').toWellFormed()].filter(isPrintable).slice(0, LONGEST).join('');
    return `  ${`${label}:`.padEnd(WIDTH)} ${value}`;
  });
  return [FIRST, ...lines, RULE, text].join('\n');
}

/** The sender that a body names, without characters that could break a terminal or a spawn; null when it names none. */
export function parseSender(body: string): string | null {
  return parseEnvelope(body)?.from ?? null;
}

function parseLabelled(line: string, label: string): string | null {
  const start = `  ${label}:`;
  if (!line.startsWith(start)) return null;
  const value = [...line.slice(start.length).toWellFormed().trim()].filter(isPrintable).slice(0, LONGEST).join('');
  return value === '' ? null : value;
}

function isPrintable(character: string): boolean {
  return !/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(character);
}
