/** What a shell offers for a value: names of personas, open decisions, files, or these words. Text is offered nothing. */
export type Completion = 'persona' | 'decision' | 'file' | readonly string[];

interface FlagText {
  /** One sentence without a full stop, in the words of a person. */
  readonly help: string;
  /** One letter, so that `-f` means the flag too. */
  readonly short?: string;
}

/** A flag without a value. Its parsed value is false when it is left out. */
export interface SwitchSchema extends FlagText {
  readonly type: 'boolean';
  /** `--no-NAME` is accepted too. The parsed value is undefined when neither is given. */
  readonly negatable?: true;
}

/** A flag with a value. Its parsed value is undefined when it is left out and has no default. */
export interface ValueFlagSchema extends FlagText {
  /**
   * `string`: any text. `choice`: one of `choices`. `number`: a whole number. `duration`: `90s`, `30m`, `2h` or `1d`, parsed into
   * milliseconds.
   */
  readonly type: 'string' | 'choice' | 'number' | 'duration';
  /** The placeholder of the value, in capitals. A choice shows its words when it has none. */
  readonly value?: string;
  readonly choices?: readonly string[];
  /** Bounds of a number, both included. */
  readonly least?: number;
  readonly most?: number;
  /** False: a number may have decimals. */
  readonly whole?: false;
  /** The flag may be repeated; its parsed value is a list. */
  readonly multiple?: true;
  readonly required?: true;
  /** As it would be typed. */
  readonly default?: string;
  readonly completes?: Completion;
  /**
   * Parses the value instead of the rule of its type.
   * @throws Error whose message names the flag and the value
   */
  readonly parse?: (text: string, flag: string) => unknown;
}

export type FlagSchema = SwitchSchema | ValueFlagSchema;

/** Flags by name, without dashes, in the order of the help text. */
export type FlagSchemas = Readonly<Record<string, FlagSchema>>;

/** A word that is no flag. */
export interface PositionalSchema {
  /** The placeholder, in capitals. */
  readonly value: string;
  readonly optional?: true;
  /** All further words. Its parsed value is a list. */
  readonly many?: true;
  readonly choices?: readonly string[];
  readonly completes?: Completion;
  /** The message when it is missing, or empty and `mayBeEmpty` is not said. */
  readonly missing?: string;
  readonly mayBeEmpty?: true;
  /** @throws Error whose message names the value */
  readonly parse?: (text: string) => unknown;
}

export type PositionalSchemas = Readonly<Record<string, PositionalSchema>>;

/** What stands after `--`, for example the command line of another program. */
export interface RestSchema {
  readonly value: string;
  readonly help: string;
}

interface Grammar {
  readonly flags?: FlagSchemas;
  readonly positionals?: PositionalSchemas;
  readonly rest?: RestSchema;
}

/** One sub-command, as `list` in `hivebar inbox list`. */
export interface VerbSchema extends Grammar {
  /** What it does: a phrase without a full stop. */
  readonly help: string;
  /** Earlier names that are still accepted. */
  readonly aliases?: readonly string[];
  /** What a person rarely types, such as the line of an installed unit: error messages do not offer it. */
  readonly internal?: true;
}

/**
 * The command line of one command. Parsing, usage, help, completions, man page and reference derive from it.
 */
export interface CommandSchema extends Grammar {
  readonly name: string;
  /** Help text above the flags. The lines are filled to the width of the help; an empty one begins a paragraph. */
  readonly about: readonly string[];
  /** Help text below the flags, such as exit codes. The lines are filled likewise. */
  readonly notes?: readonly string[];
  readonly examples: readonly { readonly run: string; readonly does: string }[];
  /** Sub-commands by name, in the order of the help text. `flags` then belong to every verb. A name may have two words. */
  readonly verbs?: Readonly<Record<string, VerbSchema>>;
  /** The verb is the first argument, and each verb knows its own flags only. */
  readonly isVerbFirst?: true;
  /** As `isVerbFirst`, and the command works without a verb too, with `flags`; these do not belong to the verbs. */
  readonly isVerbOptional?: true;
  /** It runs when no command is named. */
  readonly isDefault?: true;
}

type RawValue<F> = F extends { readonly parse: (...args: never) => infer T }
  ? T
  : F extends { readonly type: 'choice'; readonly choices: readonly (infer C)[] }
    ? C
    : F extends { readonly type: 'number' | 'duration' }
      ? number
      : string;

type ParsedFlag<F> = F extends { readonly type: 'boolean' }
  ? F extends { readonly negatable: true }
    ? boolean | undefined
    : boolean
  : F extends { readonly multiple: true }
    ? readonly RawValue<F>[]
    : F extends { readonly required: true } | { readonly default: string }
      ? RawValue<F>
      : RawValue<F> | undefined;

type FlagValues<S> = S extends { readonly flags: infer F } ? { readonly [K in keyof F]: ParsedFlag<F[K]> } : unknown;

type ParsedWord<P> = P extends { readonly parse: (...args: never) => infer T }
  ? T
  : P extends { readonly choices: readonly (infer C)[] }
    ? C
    : string;

type PositionalValue<P> = P extends { readonly many: true }
  ? readonly ParsedWord<P>[]
  : P extends { readonly optional: true }
    ? ParsedWord<P> | undefined
    : ParsedWord<P>;

type PositionalValues<S> = S extends { readonly positionals: infer P }
  ? { readonly [K in keyof P]: PositionalValue<P[K]> }
  : unknown;

/** Null: there was no `--`. */
type RestValue<S> = S extends { readonly rest: RestSchema } ? { readonly rest: readonly string[] | null } : unknown;

type Flat<T> = { readonly [K in keyof T]: T[K] };

type VerbValues<S, V, K> = Flat<
  { readonly verb: K } & (S extends { readonly isVerbOptional: true } ? unknown : FlagValues<S> & RestValue<S>) &
    FlagValues<V> &
    PositionalValues<V> &
    RestValue<V>
>;

/** What a command line of this schema says: its flags and positionals by name, `verb`, and `rest` after `--`. */
export type ParsedValues<S> = S extends { readonly verbs: infer V }
  ?
      | { readonly [K in keyof V]: VerbValues<S, V[K], K> }[keyof V]
      | (S extends { readonly isVerbOptional: true }
          ? Flat<{ readonly verb: null } & FlagValues<S> & PositionalValues<S> & RestValue<S>>
          : never)
  : Flat<FlagValues<S> & PositionalValues<S> & RestValue<S>>;
