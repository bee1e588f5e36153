import { Fault } from '../../core/model/index.ts';
import type { OpenerSetting } from './plan.ts';

/** What a template may name in braces. A value that is not known is null. */
export interface Values {
  readonly persona: string;
  readonly source: string | null;
  /** The newest message's. */
  readonly id: string | null;
  /** The session's own id. */
  readonly session: string | null;
  /** The session's folder. */
  readonly cwd: string | null;
}

const NAMES: readonly (keyof Values)[] = ['persona', 'source', 'id', 'session', 'cwd'];
const PLACEHOLDER = /\{(persona|source|id|session|cwd)\}/g;

/** Schemes that hand text to an interpreter or a file to a program; no setting allows them. */
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

/** Reads its arguments as program text, by the name of its file. */
const SHELL = /^(?:ba|da|z|k|mk|a|c|tc|fi|nu|elvi|x)?sh(?:\.exe)?$|^busybox$/i;
const JOINS_ITS_ARGUMENTS = /^(?:cmd|powershell|pwsh)(?:\.exe)?$/i;

/**
 * A list of arguments with each placeholder replaced inside its own item, byte for byte; null when one has no value.
 * @param what the setting, for the fault
 * @throws Fault `settings`: the program itself is a placeholder, a value would be an option, or would be program text
 */
export function filledArgv(what: string, template: readonly string[], values: Values): readonly string[] | null {
  if (hasPlaceholder(template[0] ?? '')) throw wrong(what, `the program ${template[0]} can not be a placeholder`);
  template.forEach((item, i) => {
    if (hasPlaceholder(item)) refuseProgramText(what, template, i);
  });
  const afterDashes = template.indexOf('--');
  const filled: string[] = [];
  for (const [i, item] of template.entries()) {
    const value = filledText(item, (name) => values[name]);
    if (value === null) return null;
    if (value.startsWith('-') && !item.startsWith('-') && !(afterDashes !== -1 && afterDashes < i)) {
      throw wrong(what, `${item} would be ${JSON.stringify(value)}, an option; put "--" before it or text beside it`);
    }
    if (value.includes('\0')) throw wrong(what, `${item} would hold a NUL character`);
    filled.push(value);
  }
  return filled;
}

/** Values as any persona has them: what is refused with these is refused whoever is meant. */
const SAMPLE: Values = { persona: 'ada', source: 'local', id: '1', session: 's1', cwd: '/h/ada' };

/**
 * Refuses a setting that every click would refuse.
 * @param schemes what the setting `urlSchemes` allows
 * @throws Fault `settings`
 */
export function checkOpener(setting: OpenerSetting, schemes: readonly string[]): void {
  if (setting.is === 'url') filledUrl(setting.template, SAMPLE, schemes);
  else if (setting.is === 'command' || (setting.is === 'terminal' && setting.argv !== undefined))
    filledArgv(setting.is, setting.argv ?? [], SAMPLE);
}

/** `sh -c 'show {persona}'` would run what a name says. As an item behind the text, `"$1"`, it is only a name. */
function refuseProgramText(what: string, template: readonly string[], at: number): void {
  const before = template
    .slice(0, at)
    .map((item) => item.slice(Math.max(item.lastIndexOf('/'), item.lastIndexOf('\\')) + 1));
  const isText = before.some((name) => SHELL.test(name)) && /^-[a-z]*c$/i.test(template[at - 1] ?? '');
  if (!isText && !before.some((name) => JOINS_ITS_ARGUMENTS.test(name))) return;
  throw wrong(
    what,
    `${JSON.stringify(template[at])} is program text for a shell; give the placeholder an item behind it`,
  );
}

/**
 * An address with each value percent-encoded; null when one is not known. Slashes of {cwd} stay, so that
 * `vscode://file{cwd}` works.
 * @param schemes what the setting `urlSchemes` allows, in lower case and without the colon
 * @throws Fault `settings`
 */
export function filledUrl(template: string, values: Values, schemes: readonly string[]): string | null {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(template)?.[1]?.toLowerCase();
  if (scheme === undefined)
    throw wrong('url', `${JSON.stringify(template)} does not begin with a scheme such as https:`);
  if (NEVER.includes(scheme)) throw wrong('url', `addresses with ${scheme}: are never opened`);
  if (!schemes.includes(scheme)) throw wrong('url', `${scheme}: is not among urlSchemes (${schemes.join(', ')})`);
  const url = filledText(template, (name) => {
    const value = values[name];
    return value === null ? null : name === 'cwd' ? encodedPath(value) : encoded(value);
  });
  if (url === null) return null;
  if (!URL.canParse(url)) throw wrong('url', `${JSON.stringify(url)} is no address`);
  const { href, protocol } = new URL(url);
  if (protocol !== `${scheme}:`) throw wrong('url', `${JSON.stringify(url)} is no address with ${scheme}:`);
  return href;
}

export function hasPlaceholder(text: string): boolean {
  return NAMES.some((name) => text.includes(`{${name}}`));
}

function filledText(template: string, get: (name: keyof Values) => string | null): string | null {
  let missing = false;
  // In one pass: a value that holds braces is not looked at again.
  const filled = template.replace(PLACEHOLDER, (_, name: keyof Values) => {
    const value = get(name);
    missing ||= value === null;
    return value ?? '';
  });
  return missing ? null : filled;
}

function encoded(value: string): string {
  // A segment of only dots would climb, also in its encoded form.
  if (/^\.{1,2}$/.test(value)) throw wrong('url', `${JSON.stringify(value)} can not stand in an address`);
  return encodeURIComponent(value.toWellFormed()).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
}

function encodedPath(value: string): string {
  const path = value.replaceAll('\\', '/');
  return (path.startsWith('/') ? path : `/${path}`).split('/').map(encoded).join('/');
}

function wrong(what: string, why: string): Fault {
  return new Fault('settings', `opener ${what}: ${why}`, { is: 'machine', key: 'open' });
}
