/** Ends this process with `code` if something still holds it after `ms`. */
export function exitBy(ms: number, code: number): void {
  setTimeout(() => process.exit(code), ms).unref();
}

/**
 * Calls `said` with what nobody caught, and ends the process with `code` when it is done, or after `ms`. What comes after the
 * first one is not heard.
 */
export function onCrash(report: (error: unknown) => Promise<void>, ms: number, code: number): void {
  let isOver = false;
  process.on('uncaughtException', (error) => {
    if (isOver) return;
    isOver = true;
    const exit = (): void => process.exit(code);
    setTimeout(exit, ms);
    report(error).then(exit, exit);
  });
}
