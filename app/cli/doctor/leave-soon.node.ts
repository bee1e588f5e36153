/** After the report nobody waits for what still hangs: a look-up of a name, which cannot be interrupted, or a socket. */
const LEAVE_MS = 200;

/** Ends the process a moment later, unless it has ended by itself before, with the exit code it has by then. */
export function leaveSoon(): void {
  setTimeout(() => process.exit(), LEAVE_MS).unref();
}
