import { Command, CommanderError, Option } from 'commander';
import { type AlarmFlags, parseActivityFlags, parseHiveAlarms, parseSilencedAlerts } from './alarm-flags.ts';
import type { WatchPlan } from './plan.ts';
import { parseTextFlag, UsageError } from './usage-error.ts';

export type WatchParseResult =
  | { readonly is: 'plan'; readonly plan: WatchPlan; readonly warnings: readonly string[] }
  /** The command ends with exit code 2. */
  | { readonly is: 'usage'; readonly message: string };

export const DEFAULT_HIVE = 'http://127.0.0.1:7474';

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

/** Describes each flag, one line per entry. */
export function formatWatchHelp(): readonly string[] {
  const text = createWatchCommand().helpInformation();
  return text.slice(text.indexOf('Options:')).trimEnd().split('\n');
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
  const list = (value: string, before: string[]): string[] => [...before, value];
  return new Command('watch')
    .allowExcessArguments(false)
    .helpOption(false)
    .option('--persona <name>', 'watch this persona only; may be repeated', list, [])
    .option('--personas <a,b>', 'watch these personas only')
    .option('--all-personas', 'watch every persona of the hive (the default)')
    .option('--hive <base>', `the hive's base address (default ${DEFAULT_HIVE})`)
    .option('--url <url>', 'watch this one inbox address instead; guarded, see --allow-loopback and --allow-private')
    .option('--allow-loopback', 'let --url be an address of this machine')
    .option('--allow-private', 'let --url be an address of a private network')
    .addOption(createNumberOption('--poll-seconds <seconds>', 'time between polls', 60, { least: 1, whole: false }))
    .addOption(createNumberOption('--alert-after <n>', 'consecutive failures that make an outage', 3, { least: 1 }))
    .addOption(
      new Option('--emit <mode>', 'where events go')
        .choices(['stdout-jsonl', 'exec-per-event'])
        .default('stdout-jsonl'),
    )
    .option('--exec <command>', 'the command run per event, with the event in KIJITOMON_* variables')
    .addOption(
      createNumberOption('--content-chars <n>', 'cut content after this many code points (default 220)', undefined, {
        least: 0,
      }),
    )
    .option('--no-content', 'leave content out of events')
    .addOption(
      createNumberOption('--seed-at <id>', 'start after this message, whatever the state file says', undefined, {
        least: 0,
      }),
    )
    .addOption(
      createNumberOption('--max-replay <n>', 'on a restart, replay at most this many messages', 50, { least: 0 }),
    )
    .option('--state-file <path>', 'keep the position here; one file per persona is derived from it')
    .addOption(
      createNumberOption('--heartbeat <seconds>', 'emit a heartbeat this often', undefined, { least: 1, whole: false }),
    )
    .option('--events-file <path>', 'append events to this file, rotated by us, instead of stdout')
    .option('--events-file-template <path>', 'one file per persona; must contain {persona}')
    .addOption(
      createNumberOption('--max-bytes <n>', 'rotate an events file at this size; 0 or less: never', 5_000_000, {}),
    )
    .addOption(createNumberOption('--keep-logs <n>', 'rotated files to keep', 5, { least: 1 }))
    .option('--suppress-author <name>', 'no event for mail from this author; may be repeated', list, [])
    .addOption(
      createNumberOption('--rediscover-every <seconds>', 'rescan the directory this often', 600, {
        least: 1,
        whole: false,
      }),
    )
    .option('--auth-header <name>', 'send the token raw in this header instead of "Authorization: Bearer"')
    .option('--token-file <path>', 'read the token here (default: the variable KIJITOMON_TOKEN)')
    .option('--no-fast-path', 'fetch every inbox on every poll')
    .addOption(
      createNumberOption('--resync-every <n>', 'fetch every inbox at least after this many skipped polls', 10, {
        least: 1,
      }),
    )
    .addOption(
      new Option('--delivery <mode>', 'what happens to an event that could not be handed over: skipped, or held')
        .choices(['at-most-once', 'at-least-once'])
        .default('at-most-once'),
    )
    .addOption(
      createNumberOption(
        '--wait <seconds>',
        'hold the pending list open this long; default 50 at least once, else 0',
        undefined,
        {
          least: 0,
          whole: false,
        },
      ),
    )
    .option('--no-gap-alerts', 'no alert where mail may be missing')
    .option('--no-evidence-alerts', 'no alert when it is forgotten what was delivered above a gap')
    .option('--no-unread-alerts', 'no alert for unread mail that the hive does not show')
    .option('--no-stranded-alerts', 'no alert for unread mail that nobody reads')
    .option('--no-urgent-alerts', 'no alert for urgent mail that nobody answers')
    .option(
      '--activity-file <path>',
      'publish there what was seen of each persona; with --check-activity: ask that file',
    )
    .option(
      '--check-activity <name>',
      'instead of watching: exit 0 active since --since-id, 1 silent, 2 not observable',
    )
    .addOption(
      createNumberOption('--since-id <id>', 'the message after which activity counts', undefined, { least: 0 }),
    )
    .addOption(createNumberOption('--waits <n>', 'how often you have waited, for the words', undefined, { least: 0 }))
    .option('--self-test', 'one real fetch and one synthetic event per persona, then exit 0 or 1')
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
}

function createNumberOption(
  flags: string,
  description: string,
  value: number | undefined,
  rule: { least?: number; whole?: boolean },
): Option {
  const name = flags.split(' ')[0];
  const option = new Option(flags, description).argParser((text: string) => {
    const pattern = rule.whole === false ? /^[+-]?\d+(\.\d+)?$/ : /^[+-]?\d+$/;
    const n = pattern.test(text.trim()) ? Number(text) : Number.NaN;
    if (!Number.isFinite(n) || (rule.whole !== false && !Number.isSafeInteger(n)))
      throw new UsageError(`${name} ${text}: must be a${rule.whole === false ? '' : ' whole'} number`);
    if (rule.least !== undefined && n < rule.least)
      throw new UsageError(`${name} ${text}: must be at least ${rule.least}`);
    return n;
  });
  return value === undefined ? option : option.default(value);
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
