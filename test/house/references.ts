/** A section of a specification, or a page, that a comment names. */
export interface Reference {
  /** From the project's folder: `docs/specs/garden.md`. */
  readonly page: string;
  /** `7`, `b`, `D12`; null: the page as a whole. */
  readonly section: string | null;
  /** As it is written. */
  readonly text: string;
}

const SPECS: Readonly<Record<string, string>> = {
  kijito: 'kijito',
  garden: 'garden',
  brainclaw: 'brainclaw',
  desktop: 'desktop',
  loopback: 'loopback-and-files',
  'persona daemon,': 'persona-daemon',
  'inbox and gates,': 'inbox-gates',
  'claude code': 'sources/claude-code',
  codex: 'sources/codex-queue',
  agmsg: 'sources/agmsg',
  amq: 'sources/amq',
  'agent mail': 'sources/agent-mail',
  'gas city': 'sources/gas-city',
  'external source': 'sources/external-source',
};

/** Which page a comment means that says "contract 4" alone; the first folder that holds the file. */
const ROOMS: readonly (readonly [string, string])[] = [
  ['core/sources/kijito/', 'kijito'],
  ['core/sources/garden/', 'garden'],
  ['core/sources/brainclaw/', 'brainclaw'],
  ['core/sources/daemon/', 'persona-daemon'],
  ['core/sources/claude/', 'sources/claude-code'],
  ['core/sources/codex/', 'sources/codex-queue'],
  ['core/sources/agmsg/', 'sources/agmsg'],
  ['core/sources/amq/', 'sources/amq'],
  ['core/sources/agent-mail/', 'sources/agent-mail'],
  ['core/sources/gas-city/', 'sources/gas-city'],
  ['core/sources/external/', 'sources/external-source'],
  ['core/inbox/signals/', 'persona-daemon'],
  ['core/daemon/', 'persona-daemon'],
  ['core/link/', 'persona-daemon'],
  ['app/daemon/', 'persona-daemon'],
  ['app/service/', 'persona-daemon'],
  ['app/cli/daemon', 'persona-daemon'],
  ['app/status/', 'persona-daemon'],
  ['app/program/daemon', 'persona-daemon'],
  ['core/inbox/', 'inbox-gates'],
  ['core/hooks/', 'inbox-gates'],
  ['core/board/', 'inbox-gates'],
  ['app/hook/', 'inbox-gates'],
  ['app/local/', 'inbox-gates'],
  ['app/cli/', 'inbox-gates'],
  ['core/', 'kijito'],
  ['app/', 'kijito'],
];

const NAMED =
  /\b(Kijito|garden|brainclaw|desktop|loopback|persona daemon,|inbox and gates,|Claude Code|Codex|agmsg|AMQ|Agent Mail|Gas City|external source)\s+(?:\*\s+)?contract,?\s+(?:\*\s+)?(?:section\s+)?(\d+|[a-z]\b|D\d+)/gi;
const BARE =
  /(?<!(?:Kijito|garden|brainclaw|desktop|loopback|daemon,|gates,|Code|Codex|agmsg|AMQ|Mail|City|source)\s+(?:\*\s+)?)\bcontract,?\s+(\d+)\b/gi;
const CODE_BLOCK = /^ {4}.*$|^```[\s\S]*?^```/gm;
const PAGE = /\bdocs\/[\w./-]+\.md\b/g;

/** What the comments of a file refer to. */
export function findReferences(path: string, comments: readonly string[]): readonly Reference[] {
  const room = ROOMS.find(([folder]) => path.startsWith(folder))?.[1];
  return comments.flatMap((comment) => [
    ...[...comment.matchAll(NAMED)].map(([text, name = '', section = '']) => ({
      page: `docs/specs/${SPECS[name.toLowerCase()]}.md`,
      section,
      text,
    })),
    ...[...comment.matchAll(BARE)].flatMap(([text, section = '']) =>
      room === undefined ? [] : { page: `docs/specs/${room}.md`, section, text },
    ),
    ...[...comment.matchAll(PAGE)].map(([text]) => ({ page: text, section: null, text })),
  ]);
}

/** Whether a page has that section: a heading `## 7. ...` or `## (b) ...`, or a row of a table for D12. */
export function hasSection(page: string, section: string): boolean {
  if (/^D\d+$/i.test(section)) return new RegExp(`^\\| ?${section} \\|`, 'im').test(page);
  const heading = /^\d+$/.test(section) ? `${section}[. ]` : `(?:\\(${section}\\)|${section}\\.)`;
  return new RegExp(`^## ${heading}`, 'im').test(page);
}

/** A link of a Markdown text to a page or heading of the project. */
export interface PageLink {
  /** Relative to the page; empty: the page itself. */
  readonly file: string;
  /** Empty: the file as a whole. */
  readonly anchor: string;
}

/** The links of a Markdown text that stay inside the project. */
export function findLinks(text: string): readonly PageLink[] {
  return [...text.replaceAll(CODE_BLOCK, '').matchAll(/\]\(([^)\s#]*)#?([^)\s]*)[^)]*\)/g)]
    .map(([, file = '', anchor = '']) => ({ file, anchor }))
    .filter(({ file }) => !/^[a-z]+:/.test(file));
}

/** The anchors of the headings of a Markdown text, as GitHub makes them. */
export function findAnchors(text: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of text.replaceAll(CODE_BLOCK, '').matchAll(/^#+ (.*)$/gm)) {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = plain.replaceAll(/[^\p{L}\p{N}_\- ]/gu, '').replaceAll(' ', '-');
    let repeated = 0;
    while (anchors.has(repeated === 0 ? anchor : `${anchor}-${repeated}`)) repeated += 1;
    anchors.add(repeated === 0 ? anchor : `${anchor}-${repeated}`);
  }
  return anchors;
}
