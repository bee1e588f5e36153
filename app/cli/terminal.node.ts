/** Whether stdout is a terminal, on which a live table can be redrawn in place. */
export const isTerminal = (): boolean => process.stdout.isTTY === true;

/** Returns the rows and columns of the terminal now; null when it does not tell. */
export function getTerminalSize(): { readonly rows: number; readonly columns: number } | null {
  const { rows, columns } = process.stdout;
  return rows > 0 && columns > 0 ? { rows, columns } : null;
}
