import type { ActivityQuestion } from '../../../core/alarms/index.ts';
import type { WatcherRules } from '../../../core/watch/index.ts';

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
