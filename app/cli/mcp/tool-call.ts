import { join } from 'node:path';
import type { Io } from '../../../core/command/index.ts';
import { type Item, type Items, openItems } from '../../../core/inbox/index.ts';
import { type Log, realClock } from '../../../core/ports/index.ts';
import { every } from '../../../core/services/index.ts';
import { type Database, type Dirs, findOwnDirs, openStore } from '../../../core/state/index.ts';
import { DATABASE } from '../open-local-hive.ts';
import { createStderrLog } from '../process.node.ts';
import { findMcpCaller, type McpCaller } from './caller.ts';

/** One call of a tool, as the server passes it on. */
export interface ToolCall {
  readonly io: Io;
  /** The Codex thread that the call names; null: none. */
  readonly thread: string | null;
  /** Aborts when the client cancels the call, or is gone. */
  readonly signal: AbortSignal;
  /** Tells the client that the call goes on; null when it does not want to know. */
  readonly progress: ReportProgress | null;
  /** How the client asks its person with a form; null: it does not offer that. */
  readonly forms: ClientForms | null;
}

type ReportProgress = (seconds: number, total: number) => Promise<void>;

/** A form of the protocol with one field, `answer`. */
export interface FormParams {
  readonly message: string;
  readonly requestedSchema: {
    readonly type: 'object';
    readonly properties: object;
    readonly required: readonly string[];
  };
}

/** What the person wrote into the form. Null: they declined it, or closed it. */
export type FormAnswer = string | null;

export type ClientForms =
  /** Before 2026-07-28 the server asks while the call waits. When `signal` aborts, the form is withdrawn and the answer is null. */
  | { readonly is: 'asks'; ask(form: FormParams, signal: AbortSignal): Promise<FormAnswer> }
  /** From then on the result holds the form, and the client repeats the call with the answer. `repeated` is null at the first call. */
  | {
      readonly is: 'repeats';
      readonly repeated: { readonly decision: number; readonly answer: FormAnswer } | null;
    };

/** What follows when the result was written, or could not be. Exactly one of the two is called, and neither throws. */
export interface ResultDelivery {
  written(): void;
  lost(): void;
}

export interface ToolResult {
  /** For clients that show text. */
  readonly text: string;
  readonly structured: Readonly<Record<string, unknown>>;
  readonly delivery?: ResultDelivery;
  /** In place of the result: the client shall show this form and repeat the call. */
  readonly form?: { readonly params: FormParams; readonly decision: number };
}

/** A client that hears nothing for a minute may give up. */
const PROGRESS_MS = 10_000;

/** Tells the client from time to time that a call goes on, until `signal` aborts. */
export function startProgress(progress: ReportProgress | null, total: number, signal: AbortSignal): void {
  if (progress === null) return;
  let passed = 0;
  const round = async (): Promise<void> => {
    passed += PROGRESS_MS / 1000;
    await progress(passed, total);
  };
  const reports = every({ name: 'progress', ms: PROGRESS_MS, firstMs: PROGRESS_MS, round, clock: realClock });
  reports.run(signal).catch(() => {}); // the client is gone, which ends the call
}

/** Opens the store as the command line does, so that it works while the tray process is closed. @throws Fault `database` */
export function openMcpStore(io: Io): Database {
  return openStore(join(findOwnDirs({ ...io.env }).state, DATABASE), { log: createMcpLog(io) });
}

/** Writes to stderr: stdout carries the protocol. */
export function createMcpLog(io: Io): Log {
  return createStderrLog(io, 'hivebar mcp');
}

/** The store, opened for one call, with the agent that makes it. */
export interface CallerInbox extends Disposable {
  readonly db: Database;
  readonly items: Items;
  readonly caller: McpCaller;
  readonly dirs: Dirs;
  readonly log: Log;
}

/** @throws Fault */
export function openInbox({ io, thread }: Pick<ToolCall, 'io' | 'thread'>): CallerInbox {
  const log = createMcpLog(io);
  const dirs = findOwnDirs({ ...io.env });
  const db = openMcpStore(io);
  try {
    const caller = findMcpCaller(io, db, thread);
    const dispose = (): void => db[Symbol.dispose]();
    return { db, items: openItems({ db, clock: realClock }), caller, dirs, log, [Symbol.dispose]: dispose };
  } catch (error) {
    db[Symbol.dispose]();
    throw error;
  }
}

/** Whether an item is for this session: it is for any, or for this one. */
export function isForSession({ session }: Pick<Item, 'session'>, { session: own }: McpCaller): boolean {
  return session === null || session === own;
}
