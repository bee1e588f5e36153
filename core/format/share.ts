/** Formats a share of a whole as a percentage, rounded down, so that 100% means all of it. */
export function formatShare(share: number): string {
  return share === 1 ? '100%' : `${(Math.floor(share * 10_000) / 100).toFixed(2)}%`;
}
