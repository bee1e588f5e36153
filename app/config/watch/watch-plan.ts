import { Command, CommanderError, Option } from 'commander';
import type { ActivityQuestion } from '../../../core/alarms/index.ts';
import type { FlagSchema, FlagSchemas, ValueFlagSchema } from '../../../core/command/index.ts';
import type { WatcherRules } from '../../../core/watcher/index.ts';

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
    throw new UsageError(`--seed-at ${plan.seedAt}: an id belongs to one inbox; use exactly one --persona, or --url`);
  return { is: 'plan', plan, warnings };
}

function parseTargets(flags: WatchFlags, warnings: string[]): WatchPlan['targets'] {
  const listed = flags.personas?.split(',').map((p) => p.trim());
  const named = [...flags.persona, ...(listed ?? [])].filter((p) => p !== '');
  const hasPersonaFlags = flags.persona.length > 0 || flags.personas !== undefined;
  if (hasPersonaFlags && named.length === 0) throw new UsageError('--persona, --personas: the name is missing');
  if (flags.url !== undefined) {
    if (hasPersonaFlags || flags.allPersonas)
      throw new UsageError('--url names a single inbox: leave out --persona, --personas and --all-personas');
    if (flags.hive !== undefined) throw new UsageError('use only one of --url and --hive');
    const { allowLoopback = false, allowPrivate = false } = flags;
    return { is: 'url', url: flags.url, allowLoopback, allowPrivate };
  }
  if (flags.allowLoopback || flags.allowPrivate)
    warnings.push('--allow-loopback and --allow-private are ignored without --url');
  if (flags.allPersonas && hasPersonaFlags)
    throw new UsageError('use either --all-personas or --persona and --personas');
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
    throw new UsageError('use only one of --events-file and --events-file-template');
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
  if (flags.contentChars !== undefined) throw new UsageError('use only one of --content-chars and --no-content');
  return null;
}

/** The values that commander returns for the flags of alarms and activity. */
interface AlarmFlags {
  delivery: WatcherRules['delivery'];
  gapAlerts: boolean;
  evidenceAlerts: boolean;
  unreadAlerts: boolean;
  strandedAlerts: boolean;
  urgentAlerts: boolean;
  activityFile?: string;
  checkActivity?: string;
  sinceId?: number;
  waits?: number;
}

function parseSilencedAlerts(flags: AlarmFlags, warnings: string[]): WatchPlan['silenced'] {
  const silenced = new Set<'gap' | 'evidence-lost' | 'unread-not-shown'>();
  if (!flags.gapAlerts) silenced.add('gap');
  if (!flags.evidenceAlerts) silenced.add('evidence-lost');
  if (!flags.unreadAlerts) silenced.add('unread-not-shown');
  if (silenced.size > 0 && flags.delivery === 'at-most-once')
    warnings.push(
      '--no-gap-alerts, --no-evidence-alerts and --no-unread-alerts are ignored without --delivery at-least-once',
    );
  return silenced;
}

function parseHiveAlarms(
  { strandedAlerts: stranded, urgentAlerts: urgent, delivery }: AlarmFlags,
  isAll: boolean,
  warnings: string[],
): WatchPlan['hiveAlarms'] {
  if ((!stranded || !urgent) && (delivery === 'at-most-once' || !isAll))
    warnings.push(
      '--no-stranded-alerts and --no-urgent-alerts are ignored without --delivery at-least-once and every persona watched',
    );
  return { stranded, urgent };
}

/** @throws UsageError */
function parseActivityFlags(flags: AlarmFlags): Pick<WatchPlan, 'activityFile' | 'checkActivity'> {
  const activityFile = parseTextFlag('--activity-file', flags.activityFile);
  const { sinceId, waits = null } = flags;
  const persona = parseTextFlag('--check-activity', flags.checkActivity);
  if (persona === null) {
    if (sinceId !== undefined || waits !== null)
      throw new UsageError('--since-id and --waits are used only with --check-activity');
    if (activityFile !== null && flags.delivery === 'at-most-once')
      throw new UsageError('--activity-file needs --delivery at-least-once: otherwise refused events are not recorded');
    return { activityFile, checkActivity: null };
  }
  if (activityFile === null || sinceId === undefined)
    throw new UsageError(`--check-activity ${persona}: needs --activity-file PATH and --since-id ID`);
  return { activityFile, checkActivity: { persona, sinceId, waits } };
}

/** A bad command line. The message is written for a person. */
class UsageError extends Error {}

/** @throws UsageError for the empty text */
function parseTextFlag(flag: string, value: string | undefined): string | null {
  if (value === '') throw new UsageError(`${flag} is empty`);
  return value ?? null;
}

/** What a headless watch has to do: every flag of the Kijito spec 11 and 14, checked. No code behind this type knows a flag. */
export interface WatchPlan {
  readonly targets:
    | { readonly is: 'all' }
    | { readonly is: 'some'; readonly personas: readonly string[] }
    | { readonly is: 'url'; readonly url: string; readonly allowLoopback: boolean; readonly allowPrivate: boolean };
  readonly hive: string;
  readonly pollSeconds: number;
  readonly alertAfter: number;
  readonly emit:
    | { readonly is: 'stdout' }
    | { readonly is: 'exec'; readonly command: string }
    | { readonly is: 'file'; readonly path: string }
    | { readonly is: 'template'; readonly template: string };
  readonly maxBytes: number;
  readonly keepLogs: number;
  /** Null: events carry no content. */
  readonly contentChars: number | null;
  readonly seedAt: number | null;
  readonly maxReplay: number;
  readonly stateFile: string | null;
  readonly heartbeatSeconds: number | null;
  readonly suppressAuthors: readonly string[];
  readonly rediscoverSeconds: number;
  readonly authHeader: string | null;
  readonly tokenFile: string | null;
  readonly fastPath: boolean;
  readonly resyncEvery: number;
  readonly selfTest: boolean;
  /** `at-most-once` is revision 6; `at-least-once` is the later monitor (Kijito contract b). */
  readonly delivery: WatcherRules['delivery'];
  /** How many seconds the pending list is held open; 0: never. */
  readonly waitSeconds: number;
  /** The alarms that are switched off. */
  readonly silenced: WatcherRules['silenced'];
  /** The alarms of a whole hive that are switched on. They exist only with `at-least-once`. */
  readonly hiveAlarms: { readonly stranded: boolean; readonly urgent: boolean };
  /** The file in which the observed activity of each persona is published. */
  readonly activityFile: string | null;
  /** The question to ask of an activity file instead of watching. */
  readonly checkActivity: ActivityQuestion | null;
}

export const DEFAULT_HIVE = 'http://127.0.0.1:7474';

/** Every flag of `hivebar watch`: those of the Kijito spec 11 and 14, then what came later. */
export const WATCH_FLAGS = {
  persona: { type: 'string', value: 'NAME', multiple: true, completes: 'persona', help: 'watch this persona only' },
  personas: { type: 'string', value: 'A,B', help: 'watch these personas only' },
  'all-personas': { type: 'boolean', help: 'watch every persona of the hive (the default)' },
  hive: { type: 'string', value: 'BASE', help: `the hive's base address (default ${DEFAULT_HIVE})` },
  url: {
    type: 'string',
    value: 'URL',
    help: 'watch this one inbox address instead; guarded, see --allow-loopback and --allow-private',
  },
  'allow-loopback': { type: 'boolean', help: 'let --url be an address of this machine' },
  'allow-private': { type: 'boolean', help: 'let --url be an address of a private network' },
  'poll-seconds': {
    type: 'number',
    value: 'SECONDS',
    least: 1,
    whole: false,
    default: '60',
    help: 'time between polls',
  },
  'alert-after': {
    type: 'number',
    value: 'N',
    least: 1,
    default: '3',
    help: 'consecutive failures that make an outage',
  },
  emit: {
    type: 'choice',
    choices: ['stdout-jsonl', 'exec-per-event'],
    default: 'stdout-jsonl',
    help: 'how events are delivered',
  },
  exec: {
    type: 'string',
    value: 'COMMAND',
    help: 'the command run per event, with the event in KIJITOMON_* variables',
  },
  'content-chars': {
    type: 'number',
    value: 'N',
    least: 0,
    help: 'cut content after this many code points (default 220)',
  },
  'no-content': { type: 'boolean', help: 'leave the content out of events' },
  'seed-at': { type: 'number', value: 'ID', least: 0, help: 'start after this message, whatever the state file says' },
  'max-replay': {
    type: 'number',
    value: 'N',
    least: 0,
    default: '50',
    help: 'on a restart, replay at most this many messages',
  },
  'state-file': {
    type: 'string',
    value: 'PATH',
    completes: 'file',
    help: 'save the position in this file; the file of each persona is derived from its name',
  },
  heartbeat: { type: 'number', value: 'SECONDS', least: 1, whole: false, help: 'emit a heartbeat this often' },
  'events-file': {
    type: 'string',
    value: 'PATH',
    completes: 'file',
    help: 'append events to this file, which is rotated, instead of stdout',
  },
  'events-file-template': {
    type: 'string',
    value: 'PATH',
    completes: 'file',
    help: 'one file per persona; must contain {persona}',
  },
  'max-bytes': {
    type: 'number',
    value: 'N',
    default: '5000000',
    help: 'rotate an events file at this size; 0 or less: never',
  },
  'keep-logs': { type: 'number', value: 'N', least: 1, default: '5', help: 'rotated files to keep' },
  'suppress-author': { type: 'string', value: 'NAME', multiple: true, help: 'no event for mail from this author' },
  'rediscover-every': {
    type: 'number',
    value: 'SECONDS',
    least: 1,
    whole: false,
    default: '600',
    help: 'rescan the directory this often',
  },
  'auth-header': {
    type: 'string',
    value: 'NAME',
    help: 'send the token raw in this header instead of "Authorization: Bearer"',
  },
  'token-file': {
    type: 'string',
    value: 'PATH',
    completes: 'file',
    help: 'read the token from this file (default: the variable KIJITOMON_TOKEN)',
  },
  'no-fast-path': { type: 'boolean', help: 'fetch every inbox on every poll' },
  'resync-every': {
    type: 'number',
    value: 'N',
    least: 1,
    default: '10',
    help: 'fetch every inbox at least after this many skipped polls',
  },
  delivery: {
    type: 'choice',
    choices: ['at-most-once', 'at-least-once'],
    default: 'at-most-once',
    help: 'what happens to an event that could not be delivered: it is skipped, or offered again',
  },
  wait: {
    type: 'number',
    value: 'SECONDS',
    least: 0,
    whole: false,
    help: 'hold the request for pending counts open this long; default 50 with at-least-once, else 0',
  },
  'no-gap-alerts': { type: 'boolean', help: 'send no alert when mail may be missing' },
  'no-evidence-alerts': {
    type: 'boolean',
    help: 'send no alert when the record of what was delivered above a gap is lost',
  },
  'no-unread-alerts': { type: 'boolean', help: 'send no alert for unread mail that the hive does not list' },
  'no-stranded-alerts': { type: 'boolean', help: 'send no alert for unread mail that nobody reads' },
  'no-urgent-alerts': { type: 'boolean', help: 'send no alert for urgent mail that nobody answers' },
  'activity-file': {
    type: 'string',
    value: 'PATH',
    completes: 'file',
    help: 'write the activity of each persona to this file; with --check-activity, read it',
  },
  'check-activity': {
    type: 'string',
    value: 'NAME',
    completes: 'persona',
    help: 'do not watch; exit 0 if active since --since-id, 1 if silent, 2 if not observable',
  },
  'since-id': { type: 'number', value: 'ID', least: 0, help: 'the message after which activity counts' },
  waits: { type: 'number', value: 'N', least: 0, help: 'how often you have waited; only shown in the output' },
  'self-test': { type: 'boolean', help: 'one real fetch and one synthetic event per persona, then exit 0 or 1' },
} as const satisfies FlagSchemas;
