/** Ends this process with `code` if something still keeps it alive after `ms`. */
export function exitBy(ms: number, code: number): void {
  setTimeout(() => process.exit(code), ms).unref();
}

/**
 * Calls `report` with the first uncaught error. The process ends with `code` when the report is done, or after `ms`. Later
 * errors are ignored.
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
