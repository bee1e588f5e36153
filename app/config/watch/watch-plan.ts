import { Command, CommanderError, Option } from 'commander';
import type { FlagSchema, ValueFlagSchema } from '../../../core/command/index.ts';
import { type AlarmFlags, parseActivityFlags, parseHiveAlarms, parseSilencedAlerts } from './alarm-flags.ts';
import type { WatchPlan } from './plan.ts';
import { parseTextFlag, UsageError } from './usage-error.ts';
import { DEFAULT_HIVE, WATCH_FLAGS } from './watch-flags.ts';

export type WatchParseResult =
  | { readonly is: 'plan'; readonly plan: WatchPlan; readonly warnings: readonly string[] }
  /** The command ends with exit code 2. */
  | { readonly is: 'usage'; readonly message: string };

/** Parses the flags of `hivebar watch`. */
export function parseWatch(args: readonly string[]): WatchParseResult {
  const command = createWatchCommand();
  try {
    command.parse([...args], { from: 'user' });
    return toWatchPlan(command.opts<WatchFlags>());
  } catch (error) {
    if (error instanceof UsageError) return { is: 'usage', message: error.message };
    if (!(error instanceof CommanderError)) throw error;
    return { is: 'usage', message: error.message.replace(/^error: /, '').replaceAll('\n', ' ') };
  }
}

interface WatchFlags extends AlarmFlags {
  persona: string[];
  personas?: string;
  allPersonas?: true;
  url?: string;
  allowLoopback?: true;
  allowPrivate?: true;
  hive?: string;
  pollSeconds: number;
  alertAfter: number;
  emit: 'stdout-jsonl' | 'exec-per-event';
  exec?: string;
  contentChars?: number;
  content: boolean;
  seedAt?: number;
  maxReplay: number;
  stateFile?: string;
  heartbeat?: number;
  eventsFile?: string;
  eventsFileTemplate?: string;
  maxBytes: number;
  keepLogs: number;
  suppressAuthor: string[];
  rediscoverEvery: number;
  authHeader?: string;
  tokenFile?: string;
  fastPath: boolean;
  resyncEvery: number;
  selfTest?: true;
  wait?: number;
}

function createWatchCommand(): Command {
  const command = new Command('watch')
    .allowExcessArguments(false)
    .helpOption(false)
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  for (const [name, flag] of Object.entries<FlagSchema>(WATCH_FLAGS)) command.addOption(toOption(name, flag));
  return command;
}

/** The parser of the flags is commander, as its error messages are those of the monitor (Kijito spec 11). */
function toOption(name: string, flag: FlagSchema): Option {
  const option = new Option(
    flag.type === 'boolean' ? `--${name}` : `--${name} <${flag.value?.toLowerCase() ?? 'mode'}>`,
  );
  if (flag.type === 'boolean') return option;
  if (flag.multiple) {
    const list = (value: string, before: string[]): string[] => [...before, value];
    return option.argParser(list).default([]);
  }
  if (flag.choices !== undefined) option.choices([...flag.choices]);
  if (flag.type === 'number') option.argParser((text: string) => parseNumber(`--${name}`, text, flag));
  if (flag.default === undefined) return option;
  return option.default(flag.type === 'number' ? Number(flag.default) : flag.default);
}

function parseNumber(name: string, text: string, { least, whole }: Pick<ValueFlagSchema, 'least' | 'whole'>): number {
  const pattern = whole === false ? /^[+-]?\d+(\.\d+)?$/ : /^[+-]?\d+$/;
  const n = pattern.test(text.trim()) ? Number(text) : Number.NaN;
  if (!Number.isFinite(n) || (whole !== false && !Number.isSafeInteger(n)))
    throw new UsageError(`${name} ${text}: must be a${whole === false ? '' : ' whole'} number`);
  if (least !== undefined && n < least) throw new UsageError(`${name} ${text}: must be at least ${least}`);
  return n;
}

function toWatchPlan(flags: WatchFlags): WatchParseResult {
  const warnings: string[] = [];
  const targets = parseTargets(flags, warnings);
  const plan: WatchPlan = {
    targets,
    hive: flags.hive ?? DEFAULT_HIVE,
    pollSeconds: flags.pollSeconds,
    alertAfter: flags.alertAfter,
    emit: parseEmit(flags, warnings),
    maxBytes: flags.maxBytes,
    keepLogs: flags.keepLogs,
    contentChars: parseContentChars(flags),
    seedAt: flags.seedAt ?? null,
    maxReplay: flags.maxReplay,
    stateFile: parseTextFlag('--state-file', flags.stateFile),
    heartbeatSeconds: flags.heartbeat ?? null,
    suppressAuthors: flags.suppressAuthor,
    rediscoverSeconds: flags.rediscoverEvery,
    authHeader: parseTextFlag('--auth-header', flags.authHeader),
    tokenFile: parseTextFlag('--token-file', flags.tokenFile),
    fastPath: flags.fastPath,
    resyncEvery: flags.resyncEvery,
    selfTest: flags.selfTest ?? false,
    delivery: flags.delivery,
    waitSeconds: parseWait(flags, warnings),
    silenced: parseSilencedAlerts(flags, warnings),
    hiveAlarms: parseHiveAlarms(flags, targets.is === 'all', warnings),
    ...parseActivityFlags(flags),
  };
  const isOne = targets.is === 'url' || (targets.is === 'some' && targets.personas.length === 1);
  if (plan.seedAt !== null && !isOne)
    throw new UsageError(`--seed-at ${plan.seedAt}: an id belongs to one inbox; give exactly one --persona, or --url`);
  return { is: 'plan', plan, warnings };
}

function parseTargets(flags: WatchFlags, warnings: string[]): WatchPlan['targets'] {
  const listed = flags.personas?.split(',').map((p) => p.trim());
  const named = [...flags.persona, ...(listed ?? [])].filter((p) => p !== '');
  const hasPersonaFlags = flags.persona.length > 0 || flags.personas !== undefined;
  if (hasPersonaFlags && named.length === 0) throw new UsageError('--persona, --personas: no name given');
  if (flags.url !== undefined) {
    if (hasPersonaFlags || flags.allPersonas)
      throw new UsageError('--url: names one inbox by itself; leave out --persona, --personas and --all-personas');
    if (flags.hive !== undefined) throw new UsageError('--url and --hive: give one of them');
    const { allowLoopback = false, allowPrivate = false } = flags;
    return { is: 'url', url: flags.url, allowLoopback, allowPrivate };
  }
  if (flags.allowLoopback || flags.allowPrivate)
    warnings.push('--allow-loopback and --allow-private are ignored without --url');
  if (flags.allPersonas && hasPersonaFlags)
    throw new UsageError('--all-personas: leave out --persona and --personas, or leave this out');
  return hasPersonaFlags ? { is: 'some', personas: uniqueNames(named) } : { is: 'all' };
}

/** Collapses flags that repeat a name, ignoring case, and keeps the first spelling (Kijito contract, trap 42). */
function uniqueNames(names: readonly string[]): string[] {
  const firstSpellings = new Map<string, string>();
  for (const name of names) if (!firstSpellings.has(name.toLowerCase())) firstSpellings.set(name.toLowerCase(), name);
  return [...firstSpellings.values()];
}

function parseEmit(flags: WatchFlags, warnings: string[]): WatchPlan['emit'] {
  const file = parseTextFlag('--events-file', flags.eventsFile);
  const template = parseTextFlag('--events-file-template', flags.eventsFileTemplate);
  if (file !== null && template !== null)
    throw new UsageError('--events-file and --events-file-template: give one of them');
  if (template !== null && !template.includes('{persona}'))
    throw new UsageError(
      `--events-file-template ${template}: must contain {persona}, for example events.{persona}.ndjson`,
    );
  if (flags.emit === 'exec-per-event') {
    if (flags.exec === undefined || flags.exec.trim() === '')
      throw new UsageError('--emit exec-per-event: needs --exec COMMAND');
    if (file !== null || template !== null)
      warnings.push('--events-file and --events-file-template are ignored with --emit exec-per-event');
    return { is: 'exec', command: flags.exec };
  }
  if (flags.exec !== undefined) warnings.push('--exec is ignored without --emit exec-per-event');
  if (file !== null) return { is: 'file', path: file };
  return template !== null ? { is: 'template', template } : { is: 'stdout' };
}

function parseWait(flags: WatchFlags, warnings: string[]): number {
  if (flags.wait === undefined) return flags.delivery === 'at-least-once' ? 50 : 0;
  if (flags.wait > 0 && flags.url !== undefined) warnings.push('--wait is ignored with --url: it has no pending list');
  else if (flags.wait > 0 && !flags.fastPath) warnings.push('--wait is ignored with --no-fast-path');
  return flags.wait;
}

function parseContentChars(flags: WatchFlags): number | null {
  if (flags.content) return flags.contentChars ?? 220;
  if (flags.contentChars !== undefined) throw new UsageError('--content-chars and --no-content: give one of them');
  return null;
}
