/** After the report nobody waits for what still hangs, such as a name look-up, which cannot be interrupted, or a socket. */
const LEAVE_MS = 200;

/** Ends the process a moment later, unless it has ended before, with the exit code that is set by then. */
export function leaveSoon(): void {
  setTimeout(() => process.exit(), LEAVE_MS).unref();
}
