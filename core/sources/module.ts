import type { Fact } from '../board/index.ts';
import type { Command, CommandEntry, Io } from '../command/index.ts';
import type { AgentState, Fault, OwnIds, PersonaId, SourceId } from '../model/index.ts';
import type { Clock, Log, Random } from '../ports/index.ts';
import type { Service } from '../services/index.ts';
import type { Disk } from '../state/index.ts';
import type { Persona, Source } from './source.ts';

/**
 * Everything that Hivebar knows of one inbox system. `registry.ts` lists them. It loads with every program that needs a
 * name or a prefix, so a module holds plain data, and imports what works only when it is called.
 *
 * @typeParam S its keys of the settings file, all of which may be absent
 */
export interface SourceModule<S extends object> {
  /** Names its docs page, and its folder here. */
  readonly name: string;
  /** What the ids of its personas begin with, `NAME-`; null when its hives give the prefix. */
  readonly prefix: string | null;
  /**
   * What its ids look like, in lower case, where its prefix is one that people give to personas too. Names of another form stay free.
   * Absent: all ids with the prefix are its own.
   */
  readonly ids?: RegExp;
  /** One line for the table of sources in the docs. */
  readonly summary: string;
  /** A JSON Schema for each of its settings. One with a `default` is never absent. */
  readonly settings: { readonly [K in keyof S]-?: object };
  /** Lists what a schema cannot say. The settings fit their schemas. */
  checkSettings?(settings: Partial<S>, rules: SettingsRules): readonly SettingProblem[];
  /** The addresses that the settings have it send requests to. */
  listAddresses?(settings: S): readonly string[];
  /** Prefixes of persona ids that the settings give to its hives. */
  listPrefixes?(settings: Partial<S>): readonly string[];
  /** Variables of the environment with a secret for this source. Nothing else in the house sees them. */
  readonly secrets?: readonly string[];
  /**
   * Looks, on the first start of Hivebar, for a hive that gets the bare names of personas.
   * @returns the value of the setting `primary`; null when there is none
   */
  findPrimary?(host: SourceEnvironment): Promise<object | null>;
  /**
   * Lists where it looks for something to watch, and whether it is there. It only looks: no request beyond this machine, nothing
   * opened that a look could change. The first start says in a line what is there, and `hivebar source list` shows all of it.
   */
  findPlaces?(settings: S, host: SourceEnvironment): Promise<readonly SourcePlace[]>;
  /** @returns null when there is nothing to watch @throws nothing: what cannot be read is a fault on the board */
  open(settings: S, host: SourceHost): Promise<WatchedSource | null>;
  /** What a person or a script may have it do, beside reading. `WatchedSource.act` does it. */
  readonly actions?: readonly SourceAction[];
  /** What a person reads of a reason of `AgentState`, where the reason does not say it by itself. */
  readonly texts?: Readonly<Record<string, string>>;
  /** Whether it has projects, which have a board and a page of their own: `WatchedSource.projects`. */
  readonly hasProjects?: boolean;
  /** Its commands, each `hivebar NAME`. */
  readonly commands?: readonly SourceCommand[];
  /** The checks of `hivebar doctor`. */
  doctor?(settings: S): readonly SourceCheck[];
}

/** A place where a source looks for something to watch. */
export interface SourcePlace {
  /** What would be there, as a text for a person: `Claude Code sessions`. */
  readonly what: string;
  /** A path or an address. */
  readonly where: string;
  /** What is there, as a text for a person: `3 sessions`. Null: nothing is. */
  readonly found: string | null;
}

/** An action as menu, page, route and command line know it. */
export interface SourceAction {
  readonly name: string;
  readonly title: string;
  /** A JSON Schema. */
  readonly params: object;
}

/** A command of a source. Its file is loaded when it runs, or when its help is read. */
interface SourceCommand extends Pick<CommandEntry, 'summary' | 'needs'> {
  readonly name: string;
  load(): Promise<{ createCommand(host: CommandHost): Command }>;
}

/** What the house gives to the commands of sources. */
export interface CommandHost {
  /** Hivebar's own version. */
  readonly version: string;
  /** Creates a log that writes lines to stderr, each after `name` and a colon. */
  createLog(io: Io, name: string): Log;
  /** Returns a signal that aborts when the process is asked to stop. The process then no longer stops on its own. */
  createStopSignal(): AbortSignal;
  /** Opens stdout for lines that are written as they come. */
  openOutput(): Promise<CommandOutput>;
  /** Reads the settings file. @throws Fault `settings` when it has a mistake */
  readSettings(env: Io['env']): Promise<object>;
  /** Opens the settings file to change it. @throws as `readSettings` does */
  editSettings(env: Io['env']): Promise<SettingsEditor>;
  /**
   * Runs an action in the tray process.
   * @returns its answer; null when the tray process is not running
   * @throws Fault with the reason, when it refuses
   */
  act(env: Io['env'], action: string, params: object): Promise<object | null>;
  /** The personas on the board of the tray process; null when it is not running. */
  readPersonas(env: Io['env']): Promise<readonly PersonaOnStatus[] | null>;
  /** Where each built-in source looks, and what is there. */
  findPlaces(env: Io['env']): Promise<readonly SourcePlaces[]>;
  /** Asks the person at the terminal. @throws Fault `usage` when nobody is there */
  ask(question: string): Promise<boolean>;
}

export interface SettingsEditor {
  /** With defaults. */
  readonly settings: object;
  /** @throws Fault `usage` when the value does not fit */
  check(name: string, value: unknown): void;
  /** Writes one setting. @throws Fault `usage` when the value does not fit, `unwritable` */
  set(name: string, value: unknown): void;
  unset(name: string): void;
}

export interface PersonaOnStatus {
  readonly id: PersonaId;
  readonly source: SourceId;
  readonly state: string;
}

/** Where one source looks. */
export interface SourcePlaces {
  readonly name: string;
  /** How the ids of its personas begin, beside bare names. */
  readonly prefixes: readonly string[];
  readonly places: readonly SourcePlace[];
}

/** Stdout, of which a reader that does not read blocks nothing. */
export interface CommandOutput {
  /** `stopped` means that `stop` was aborted before all of the text was taken. */
  write(text: string, stop: Pick<AbortSignal, 'aborted'>): Promise<'written' | 'reader gone' | 'stopped'>;
  /** Whether the reader went away without a write that would tell. */
  isReaderGone(): boolean;
}

/** What the settings of a source are checked against. */
export interface SettingsRules {
  /** Names that no hive can have. */
  readonly reservedNames: readonly string[];
  /** @throws Fault `bad-url`, `blocked` or `usage` for an address or a proxy that no request can use */
  checkAddress(address: string, proxy?: string): void;
}

export interface SettingProblem {
  /** A JSON pointer into the settings file: `/hives/0/base`. */
  readonly at: string;
  readonly message: string;
}

/** The machine as a source sees it. */
export interface SourceEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly log: Log;
  /** Hivebar's own version. */
  readonly version: string;
  /** Persona ids that belong to other sources. */
  readonly reservedIds: readonly OwnIds[];
  /** Aborts when Hivebar ends. */
  readonly stop: AbortSignal;
}

/** What the tray process gives to a source that it opens. */
export interface SourceHost extends SourceEnvironment {
  readonly random: Random;
  /** How many code points of content an event has; the setting `contentChars`. */
  readonly contentChars: number;
  /** How long a long poll may take, in seconds; 0 for none. The setting `holdSeconds`. */
  readonly holdSeconds: number;
  /** The state directory. */
  readonly state: string;
  readonly positions: PositionStore;
  readonly settingsFile: SettingsAccess;
  put(fact: Fact): void;
  /** Calls the listener with the address of each inbox of the local hive that changed. */
  onLocalMail(listener: (address: string) => void): Disposable;
  /** Watches one more hive, from now on until it is released. */
  watch(hive: WatchedHive): HiveHandle;
  /**
   * The persona that announced a session, by the id that its agent program gave the session; null when none did. Such a session is
   * shown at that persona: report what it does with the fact `agent`.
   */
  findSessionPersona(sessionId: string): PersonaId | null;
  /** The folders of the sessions that are known: those that were announced, and those in which an agent is reported to work. */
  listSessionFolders(): readonly string[];
}

/**
 * Stores how far a source was read, in the log of the events: what is saved after an event was acknowledged is never there without
 * that event, also when the store goes back to an older copy.
 */
export interface PositionStore {
  /** The value that was saved last under this key, which no persona may have as its id; null when there is none. */
  read(key: string): object | null;
  /** @throws Fault when it cannot be saved */
  save(key: string, value: object): Promise<void>;
}

/** The settings file while Hivebar is running. */
export interface SettingsAccess {
  readonly path: string;
  /** Reads it again. @throws Fault `settings` when it has a mistake, `unreadable` */
  read(): object;
}

/** A hive that came while Hivebar was running. */
export interface HiveHandle {
  /** Ends its watchers. The saved states of its personas stay. */
  release(): Promise<void>;
  /** Takes its personas off the board. Call it after `release`. */
  leave(): void;
}

/** A source that was opened. */
export interface WatchedSource extends AsyncDisposable {
  /** What is watched from the start. The watchers dispose these sources. */
  readonly hives: readonly WatchedHive[];
  readonly services?: readonly Service[];
  /**
   * Takes the settings of its source, which have changed. A source without this is closed and opened again.
   * @throws Fault
   */
  follow?(settings: object): Promise<void>;
  /** Looks for new hives now. */
  poll?(): void;
  /** The sessions of a persona of this source, which has announced none. @throws Fault `exec-failed` */
  findSessions?(persona: PersonaOnBoard): readonly NativeSession[];
  /** The address of the page that its own system has for a persona without a session; null for none. */
  findPage?(persona: PersonaOnBoard): string | null;
  /** The persona of this source that is this session, by the id that its agent program gave the session; null for none. */
  findSessionOwner?(sessionId: string): PersonaId | null;
  /** Metrics that `/metrics` shows beside those of Hivebar. */
  metrics?(): readonly SourceMetric[];
  /** Runs one of the actions of its module, with params that fit their schema. @throws Fault */
  act?(action: string, params: unknown, signal: AbortSignal): Promise<unknown>;
  /** Projects with a board of their own, sorted by id. */
  projects?(): readonly WatchedProject[];
}

export interface PersonaOnBoard {
  readonly id: PersonaId;
  readonly source: SourceId;
  readonly agent: AgentState['is'];
}

/** A session that another system keeps. */
export interface NativeSession {
  readonly persona: PersonaId;
  readonly id: string;
  /** An absolute path. */
  readonly cwd: string;
  /** The arguments that resume the session; null when it cannot be resumed. */
  readonly resume: readonly string[] | null;
  /** The pane of tmux that shows it: the value of its variable TMUX, and a pane id. Absent where there is none, or none is known. */
  readonly tmux?: { readonly server: string; readonly pane: string };
  /** Why a click may not run what its source names for it. Absent: nothing is refused. */
  readonly refusal?: Fault;
  /** The program that shows it without a terminal; `{cwd}` is an argument of its own. Absent: none does. */
  readonly shownBy?: readonly string[];
}

/** One metric in the text format of Prometheus. */
export interface SourceMetric {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter';
  readonly samples: readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[];
}

/** A watched project in its current state. */
export interface WatchedProject {
  /** The id of its source. */
  readonly id: string;
  /** The persona that stands for the project's board. */
  readonly board: string;
  readonly label: string;
  /** The folder that holds the store. */
  readonly root: string;
  /** What surfaces show of it, in plain values that are valid JSON. Null when the project was not read yet. */
  readonly sheet: object | null;
  /** Returns the sheet with one page of one section only, the rows from `from` on. */
  sheetAt(page: { readonly section: string; readonly from: number }): object | null;
  /** Changes when the sheet changes. */
  readonly rev: string | null;
  /** What is wrong in its store, one line each. */
  readonly defects: readonly string[];
  /** Whether a person may act on its items. */
  readonly acts: boolean;
}

/** One check of `hivebar doctor`, which only reads. */
export interface SourceCheck {
  readonly name: string;
  /** What a person misses, that a failure can explain. */
  readonly about: readonly DoctorQuestion[];
  /** The same of a warning. Default: `about`. */
  readonly hints?: readonly DoctorQuestion[];
  /** Ends soon after the signal aborts. An error that it throws becomes the finding. */
  run(context: CheckContext, signal: AbortSignal): Promise<Finding>;
}

/** The thing that a person misses when they run the doctor. */
export type DoctorQuestion = 'icon' | 'banner' | 'mail';

export interface CheckContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** The state directory. */
  readonly state: string;
  readonly version: string;
}

/** The result of a check of the doctor: one line about what was seen, and the next step where there is one. */
export type Finding =
  | { readonly is: 'ok' | 'skipped'; readonly seen: string }
  | { readonly is: 'warn' | 'fail'; readonly seen: string; readonly next: string };

export const ok = (seen: string): Finding => ({ is: 'ok', seen });
/** The check does not apply here; `seen` says why. */
export const skipped = (seen: string): Finding => ({ is: 'skipped', seen });
/** It works, or will work, but not as a person would expect. */
export const warn = (seen: string, next: string): Finding => ({ is: 'warn', seen, next });
/** A function that is switched on does not work. */
export const fail = (seen: string, next: string): Finding => ({ is: 'fail', seen, next });

/** One hive that the tray process watches: a source, and what the watchers need to know of it. */
export interface WatchedHive {
  readonly source: Source;
  /** Where the hive is, as a text for a person. */
  readonly address: string;
  /** Says which inbox a saved position belongs to, as JSON. */
  identity(persona: Persona): unknown;
  named(address: string): Persona;
  /** How long the hive holds a long poll, in milliseconds; null for no long poll. */
  readonly holdMs: number | null;
  /**
   * `embedded`: the hive that Hivebar itself serves. `disk`: files of this machine. `remote`: behind a connection, so that only so many
   * polls run at once. The identities of the first two name the address second.
   */
  readonly kind: 'embedded' | 'disk' | 'remote';
  /**
   * The first poll of a persona delivers its whole inbox, where a setting says so. Else it is a baseline: counted, and not
   * delivered. The embedded hive has no mail from before Hivebar, so there it is always so.
   */
  readonly deliversBacklog: boolean;
  /** Everything that came while Hivebar was not running is delivered, however much it is. Absent: the setting `maxReplay` holds. */
  readonly replaysAll?: true;
  /**
   * Resolves as soon as there is something to watch, or when the signal aborts. `came` means that the hive did not exist before,
   * so all of its mail came while Hivebar was running and is news. Without this method the hive is always present.
   */
  appears?(signal: AbortSignal): Promise<'there' | 'came'>;
}
