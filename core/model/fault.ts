/**
 * The table of everything that can go wrong. Code, docs and exit codes derive from it. `next` is the step a person
 * should take; `http` is the status of a request that it refuses, 500 when absent.
 */
export const FAULTS = {
  refused: { next: 'check that the server is running at that address' },
  dns: { next: 'check the host name and the network' },
  timeout: { next: 'check that the server answers' },
  tls: { next: 'check the certificate of the server, the host name, and the clock of this machine' },
  broken: { next: 'the connection ended in the middle of the answer: look at the log of the server' },
  status: { next: 'look at the log of the server' },
  'not-found': { next: 'check the address; the inbox may be switched off on the server', http: 404 },
  unauthorized: { next: 'give a valid token with --token-file or KIJITOMON_TOKEN' },
  redirect: { next: 'use the address the server redirects to; redirects are never followed' },
  'not-json': { next: 'check that the address is that of a hive' },
  shape: { next: 'check that the address is that of a hive' },
  'too-large': { next: 'the answer is over 16 MiB; have the server send a smaller window', http: 413 },
  blocked: { next: 'use a public address, or allow the class with --allow-loopback or --allow-private' },
  'bad-url': { next: 'give an http or https address without a user name in it' },
  'bad-nats-url': { next: 'write it like nats://127.0.0.1:4222, without a user name in it' },
  'lock-held': { next: 'state-file in use: stop the other watcher, or give another --state-file' },
  unreadable: { next: 'check that the file exists and that this user may read it' },
  'hook-settings': { next: 'make that folder writable for this user, then run hivebar hook install again' },
  'hook-gone': { next: 'run hivebar hook install, or start Hivebar, with the current Node' },
  settings: { next: 'correct the file, or move it away to use the defaults', http: 400 },
  unwritable: { next: 'check the owner and mode of the directory', http: 507 },
  'no-space': { next: 'free space on the disk', http: 507 },
  'exec-failed': { next: 'run the command by hand with the same environment' },
  'exec-timeout': { next: 'make the command end within 10 seconds' },
  'reader-gone': { next: 'start again with a reader of stdout, or use --events-file' },
  'port-taken': {
    next: 'hivebar doctor names the program that listens there; stop it, or choose another port with --port or HIVEBAR_PORT',
  },
  database: { next: 'check the disk and the file hivebar.sqlite', http: 503 },
  'store-damaged': { next: 'hivebar doctor names the file that was set aside, and what was lost' },
  'store-malformed': { next: 'stop the program that writes it, and have that program repair it' },
  schema: { next: 'update Hivebar, or the program that writes it' },
  'store-busy': { next: 'see which program holds it, and stop that one if it hangs' },
  'relay-token': { next: 'put the token of the NATS server into the file that nats.tokenFile names' },
  'relay-server': { next: 'run nats-server 2.9 or newer with JetStream and a storage directory' },
  'relay-stream': { next: 'look at the stream INBOX_EVENTS: its subjects must be inbox.>' },
  garden: { next: 'correct that file or move it away; other files are not affected' },
  'amail-token': {
    next: 'give a valid token: a file with it in amail.tokenFile, or HTTP_BEARER_TOKEN in the environment file of the server',
  },
  'amail-too-old': { next: 'update MCP Agent Mail, or check that its server listens at that address' },
  'amail-answer': { next: 'check that an MCP Agent Mail server listens at that address, and look at its log' },
  'actions-off': { next: 'add "actions": true to the setting brainclaw, which hivebar config show prints', http: 409 },
  'brainclaw-missing': { next: 'install brainclaw, or make the call yourself', http: 501 },
  'brainclaw-gone': {
    next: 'run brainclaw mcp in that folder yourself; the board shows whether the call was done',
    http: 502,
  },
  'brainclaw-refused': {
    next: 'correct what brainclaw names; run brainclaw register-agent NAME to make a person known',
    http: 409,
  },
  'daemon-config': { next: 'correct the file, or install the daemon again with hivebar daemon install' },
  'daemon-runs': { next: 'hivebar daemon status shows it; hivebar daemon shutdown ends it' },
  'daemon-socket': { next: 'set a shorter HIVEBAR_HOME or XDG_RUNTIME_DIR, and check who owns that directory' },
  'daemon-gone': { next: 'start it with hivebar daemon run, or see hivebar daemon list' },
  'daemon-token': { next: 'install the daemon again with hivebar daemon install, which makes new tokens' },
  'daemon-refused': { next: 'look at the log of the daemon; restart it if its version differs' },
  'source-down': { next: 'hivebar source show NAME has its last lines' },
  'source-schema': { next: 'correct what the source writes; hivebar source show NAME has its last lines' },
  'source-auth': { next: 'log in where the source reads, or renew its token' },
  'source-config': { next: 'correct what it names, then run hivebar source restart NAME' },
  'source-limit': { next: 'have the source hold or report less, then run hivebar source restart NAME' },
  'source-opens': {
    next: 'if you trust it, run hivebar source remove NAME and add it again with --opens; or open the status page',
    http: 409,
  },
  'source-stale': { next: 'run the program that writes it' },
  helper: { next: 'install Hivebar again: npm install -g hivebar' },
  channel: { next: 'hivebar notify test tries it again; hivebar doctor says what this machine lacks' },
  usage: { next: 'see --help', http: 400 },
  internal: { next: 'report this with the log' },
} as const satisfies Record<string, { next: string; http?: number }>;

export type FaultCode = keyof typeof FAULTS;

/** What a fault is about: one persona, a whole source, or the machine. */
export interface Scope {
  readonly is: 'persona' | 'source' | 'machine';
  /** Names the cause. All faults with the same key are one outage to a person. */
  readonly key: string;
}

/** An expected failure. `message` names what was wrong and with which value; the table adds the next step. */
export class Fault extends Error {
  readonly code: FaultCode;
  readonly scope: Scope;

  constructor(code: FaultCode, message: string, scope: Scope, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Fault';
    this.code = code;
    this.scope = scope;
  }

  /** The message and the next step in one line, for a person. */
  explain(): string {
    return `${this.message}: ${FAULTS[this.code].next}`;
  }
}

/** Converts any thrown value to a Fault, so that no failure leaves a loop unexplained. */
export function toFault(error: unknown, scope: Scope): Fault {
  if (error instanceof Fault) return error;
  const removed = toRemovedFolderFault(error);
  if (removed !== null) return removed;
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return new Fault('internal', text, scope, { cause: error });
}

/**
 * Returns the fault for a current folder that was removed, because relative paths cannot be resolved then. Null for any
 * other error.
 */
export function toRemovedFolderFault(error: unknown): Fault | null {
  if (!(error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd')) return null;
  const words = 'the current folder was removed: change into one that exists, or give absolute paths';
  return new Fault('usage', words, { is: 'machine', key: 'cwd' });
}
