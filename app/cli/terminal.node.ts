/** Whether stdout is a terminal, which a live table is drawn on in place. */
export const isTerminal = (): boolean => process.stdout.isTTY === true;

/** How many lines of so many columns the terminal shows now; null: it does not say. */
export function getTerminalSize(): { readonly rows: number; readonly columns: number } | null {
  const { rows, columns } = process.stdout;
  return rows > 0 && columns > 0 ? { rows, columns } : null;
}
