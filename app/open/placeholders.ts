import { Fault } from '../../core/model/index.ts';
import type { ProcessLiveness } from './process-liveness.node.ts';
import type { Pane, Session } from './session.ts';

/** The values that a template may name in braces. An unknown value is null. */
export interface PlaceholderValues {
  readonly persona: string;
  readonly source: string | null;
  /** The id of the newest message. */
  readonly id: string | null;
  /** The session's own id. */
  readonly session: string | null;
  /** The session's folder. */
  readonly cwd: string | null;
}

const NAMES: readonly (keyof PlaceholderValues)[] = ['persona', 'source', 'id', 'session', 'cwd'];
const PLACEHOLDER = /\{(persona|source|id|session|cwd)\}/g;

/** Schemes that pass text to an interpreter or a file to a program. No setting can allow them. */
const NEVER: readonly string[] = [
  'javascript',
  'vbscript',
  'data',
  'file',
  'blob',
  'about',
  'view-source',
  'filesystem',
];

/**
 * Programs that read an argument as code, by their file name. `all`: any argument may be code. `code`: code is the argument after
 * an option such as `-c`, and any argument before the script. `option`: code is only the argument after such an option.
 */
const READS_CODE: readonly { readonly name: RegExp; readonly reads: 'all' | 'code' | 'option' }[] = [
  {
    name: /^(?:cmd|powershell|pwsh|ssh|mosh|su|script|tmux|screen|zellij|eval|xargs|parallel|watch|sqlite3|psql|mysql|mariadb|redis-cli|osascript|expect|find|make|gmake|sed|jq)$/,
    reads: 'all',
  },
  {
    name: /^(?:(?:ba|da|z|k|mk|a|c|tc|fi|nu|elvi|x)?sh|busybox|python[\d.]*|pypy[\d.]*|perl[\d.]*|ruby[\d.]*|node|nodejs|deno|bun|tsx|ts-node|php[\d.]*|lua[\d.]*|luajit|tclsh[\d.]*|wish|[gmno]?awk|Rscript|julia|guile|racket|sbcl|clojure|elixir|erl|ghci|groovy|scala)$/i,
    reads: 'code',
  },
  {
    name: /^(?:env|sudo|doas|vi|vim|nvim|emacs|emacsclient|gdb|lldb|git|less|man|.*term.*|konsole|kitty|foot|ghostty|st)$/,
    reads: 'option',
  },
];

/** Matches `-c`, `-lc`, `-e`, `-S`, `-x`, `--eval`, `--split-string` and the like. */
const CODE_OPTION =
  /^-[A-Za-z]*[cCeEpPrSx]$|^[/-](?:eval|exec|command|code|print|expression|split-string|session-command)$|^--(?:eval|exec|command|code|print|expression|split-string|cmd|ex)$/i;

/**
 * Fills a list of arguments in which each placeholder is a whole argument. Values are inserted byte for byte. Returns null when a
 * placeholder has no value.
 * @param what the setting, for the fault
 * @throws Fault `settings`: what `checkArgv` refuses, or a value that would be an option
 */
export function fillArgv(
  settingName: string,
  template: readonly string[],
  values: PlaceholderValues,
): readonly string[] | null {
  const refusal = checkArgv(template);
  if (refusal !== null) throw createSettingsFault(settingName, refusal);
  const afterDashes = template.indexOf('--');
  const filled: string[] = [];
  for (const [i, item] of template.entries()) {
    const value = fillText(item, (name) => values[name]);
    if (value === null) return null;
    if (value.startsWith('-') && !item.startsWith('-') && !(afterDashes !== -1 && afterDashes < i)) {
      throw createSettingsFault(
        settingName,
        `${item} would be ${JSON.stringify(value)}, an option; put "--" before it`,
      );
    }
    if (value.includes('\0')) throw createSettingsFault(settingName, `${item} would hold a NUL character`);
    filled.push(value);
  }
  return filled;
}

/** Typical values. What is refused with them is refused for every persona. */
const SAMPLE: PlaceholderValues = { persona: 'ada', source: 'local', id: '1', session: 's1', cwd: '/h/ada' };

/**
 * Refuses a setting that every click would refuse.
 * @param schemes what the setting `urlSchemes` allows
 * @throws Fault `settings`
 */
export function checkOpener(setting: OpenerSetting, schemes: readonly string[]): void {
  if (setting.is === 'url') fillUrl(setting.template, SAMPLE, schemes);
  else if (setting.is === 'command' || (setting.is === 'terminal' && setting.argv !== undefined))
    fillArgv(setting.is, setting.argv ?? [], SAMPLE);
}

/**
 * Returns why a list of arguments must not be filled; null when it may. Setting and click use the same check: a name from mail is
 * data, never code.
 */
function checkArgv(template: readonly string[]): string | null {
  for (const [at, item] of template.entries()) {
    if (!hasPlaceholder(item)) continue;
    const inEnvironment = `use $HIVEBAR_${toEnvironmentName(item)} in the environment instead`;
    if (at === 0) return `the program ${item} cannot be a placeholder`;
    if (!/^\{\w+\}$/.test(item))
      return `${JSON.stringify(item)} is more than a placeholder: give it an argument of its own, or ${inEnvironment}`;
    if (isReadAsCode(template, at))
      return `${item} would be program text for ${toProgramName(findCodeReader(template, at))}: ${inEnvironment}`;
  }
  return null;
}

/** `sh -c 'show {persona}'` would run the name as code. As an argument after the code, `"$1"`, it is only a name. */
function isReadAsCode(template: readonly string[], at: number): boolean {
  const reader = findCodeReader(template, at);
  const reads = READS_CODE.find(({ name }) => name.test(toProgramName(reader)))?.reads;
  const start = template.indexOf(reader);
  if (reads === undefined) return false;
  if (reads === 'all' || CODE_OPTION.test(template[at - 1] ?? '')) return true;
  return (
    reads === 'code' && !template.slice(start + 1, at).some((item) => !item.startsWith('-') && !hasPlaceholder(item))
  );
}

/** Returns the strictest program before the placeholder that reads arguments as code, or '' when there is none. */
function findCodeReader(template: readonly string[], at: number): string {
  const before = template.slice(0, at);
  const byStrictness = (['all', 'code', 'option'] as const).flatMap((reads) =>
    before.filter((item) => READS_CODE.some((row) => row.reads === reads && row.name.test(toProgramName(item)))),
  );
  return byStrictness[0] ?? '';
}

/** Returns the name under which `toPlaceholderEnv` passes the value of a placeholder. */
function toEnvironmentName(item: string): string {
  const [, name = ''] = /\{(\w+)\}/.exec(item) ?? [];
  return name === 'id' ? 'MESSAGE' : name.toUpperCase();
}

function toProgramName(item: string): string {
  return item.slice(Math.max(item.lastIndexOf('/'), item.lastIndexOf('\\')) + 1).replace(/\.(?:exe|cmd|bat|com)$/i, '');
}

/**
 * Fills an address with each value percent-encoded. Returns null when a value is not known. Slashes of {cwd} stay, so that
 * `vscode://file{cwd}` works.
 * @param schemes what the setting `urlSchemes` allows, in lower case and without the colon
 * @throws Fault `settings`
 */
export function fillUrl(template: string, values: PlaceholderValues, schemes: readonly string[]): string | null {
  checkScheme(template, schemes, URL_SETTING);
  const url = fillText(template, (name) => {
    const value = values[name];
    return value === null ? null : name === 'cwd' ? encodePath(value) : encodeSegment(value);
  });
  return url === null ? null : checkUrl(url, schemes);
}

/**
 * Returns the address as it is opened, in the spelling that was checked.
 * @param schemes what the setting `urlSchemes` allows, in lower case and without the colon
 * @param addressName names the address in the fault
 * @throws Fault `settings`
 */
export function checkUrl(url: string, schemes: readonly string[], addressName = URL_SETTING): string {
  const scheme = checkScheme(url, schemes, addressName);
  if (!URL.canParse(url)) throw createUrlFault(addressName, `${JSON.stringify(url)} is not a valid address`);
  const { href, protocol } = new URL(url);
  if (protocol !== `${scheme}:`)
    throw createUrlFault(addressName, `${JSON.stringify(url)} is not a valid ${scheme}: address`);
  return href;
}

function checkScheme(url: string, schemes: readonly string[], addressName: string): string {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase();
  if (scheme === undefined)
    throw createUrlFault(addressName, `${JSON.stringify(url)} does not begin with a scheme such as https:`);
  if (NEVER.includes(scheme)) throw createUrlFault(addressName, `addresses with ${scheme}: are never opened`);
  if (!schemes.includes(scheme))
    throw createUrlFault(addressName, `${scheme}: is not among urlSchemes (${schemes.join(', ')})`);
  return scheme;
}

function hasPlaceholder(text: string): boolean {
  return NAMES.some((name) => text.includes(`{${name}}`));
}

function fillText(template: string, get: (name: keyof PlaceholderValues) => string | null): string | null {
  let missing = false;
  // All in one pass, so that braces in a value are not filled again.
  const filled = template.replace(PLACEHOLDER, (_, name: keyof PlaceholderValues) => {
    const value = get(name);
    missing ||= value === null;
    return value ?? '';
  });
  return missing ? null : filled;
}

function encodeSegment(value: string): string {
  // A segment of only dots would lead to a parent folder, also in its encoded form.
  if (/^\.{1,2}$/.test(value))
    throw createSettingsFault('url', `${JSON.stringify(value)} cannot be used in an address`);
  return encodeURIComponent(value.toWellFormed()).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
}

function encodePath(value: string): string {
  const path = value.replaceAll('\\', '/');
  return (path.startsWith('/') ? path : `/${path}`).split('/').map(encodeSegment).join('/');
}

/** Names the address that the setting `opener` gives. */
const URL_SETTING = 'opener url';

function createSettingsFault(settingName: string, why: string): Fault {
  return createUrlFault(`opener ${settingName}`, why);
}

function createUrlFault(addressName: string, why: string): Fault {
  return new Fault('settings', `${addressName}: ${why}`, { is: 'machine', key: 'open' });
}

/** The setting `opener`, which says how a persona's session is opened. */
export type OpenerSetting =
  | { readonly is: 'auto' | 'page' }
  | { readonly is: 'command'; readonly argv: readonly string[] }
  | { readonly is: 'url'; readonly template: string }
  /**
   * `argv` is a terminal program with its options; the command to run is appended. Without it the desktop's own terminal is used.
   */
  | { readonly is: 'terminal'; readonly argv?: readonly string[] };

/** One way to show the session. Whoever runs the step finds the programs for it. */
export type OpeningStep =
  | { readonly is: 'command'; readonly argv: readonly string[] }
  | { readonly is: 'url'; readonly template: string }
  /** Brings the terminal that shows the pane's server to the pane. */
  | { readonly is: 'tmux'; readonly pane: Pane }
  /** A new terminal that shows the pane, for a server that no terminal shows. */
  | { readonly is: 'attach'; readonly pane: Pane; readonly terminal: readonly string[] | null }
  /** A new terminal in the session's folder. With a null `resume` it runs the person's shell. */
  | { readonly is: 'terminal'; readonly resume: readonly string[] | null; readonly terminal: readonly string[] | null }
  | { readonly is: 'refuse'; readonly fault: Fault }
  | { readonly is: 'page' };

export interface OpeningPlan {
  /** The session of the steps, from which placeholders are filled; null when no session is known. */
  readonly session: Session | null;
  /**
   * The steps are tried in this order until one works. What the settings name explicitly is the only step, and its failure is
   * reported.
   */
  readonly steps: readonly [OpeningStep, ...OpeningStep[]];
}

const PAGE = { is: 'page' } as const;

/**
 * Decides what a click on a persona does. A session that may still be alive is never resumed, because two agents would write to
 * it.
 * @param sessions the persona's, newest first
 */
export function choosePlan(
  sessions: readonly Session[],
  setting: OpenerSetting,
  checkLiveness: (session: Session) => ProcessLiveness,
): OpeningPlan {
  const lives = sessions.map((session) => ({
    session,
    life: session.endedAt === null ? checkLiveness(session) : 'gone',
  }));
  const chosen =
    lives.find(({ life }) => life === 'live') ?? lives.find(({ life }) => life === 'unknown') ?? lives[0] ?? null;
  if (setting.is === 'command' || setting.is === 'url') return { session: chosen?.session ?? null, steps: [setting] };
  if (setting.is === 'page' || chosen === null) return { session: chosen?.session ?? null, steps: [PAGE] };
  const { session, life } = chosen;
  const { pane, resume, shownBy, refusal } = session;
  if (refusal !== undefined) return { session, steps: [{ is: 'refuse', fault: refusal }] };
  if (shownBy !== undefined && setting.is === 'auto')
    return { session, steps: [{ is: 'command', argv: shownBy }, PAGE] };
  if (setting.is === 'terminal') {
    const terminal = setting.argv ?? null;
    if (life === 'gone') return { session, steps: [{ is: 'terminal', resume, terminal }] };
    return {
      session,
      steps: [pane === null ? { is: 'terminal', resume: null, terminal } : { is: 'attach', pane, terminal }],
    };
  }
  if (life === 'gone' && resume !== null) {
    return { session, steps: [{ is: 'terminal', resume, terminal: null }, PAGE] };
  }
  // A pane outlives the program in it, and its last output is worth more than the page.
  if (pane !== null) return { session, steps: [{ is: 'tmux', pane }, { is: 'attach', pane, terminal: null }, PAGE] };
  return { session, steps: [PAGE] };
}
