/** Ends this process with `code` if something still holds it after `ms`. */
export function exitBy(ms: number, code: number): void {
  setTimeout(() => process.exit(code), ms).unref();
}
