/** A way to an agent at which nobody asks: an address on this machine that its own runner listens at. */
export interface WakePath {
  /** There is an address now. */
  isThere(): boolean;
  /** @throws Error when there is none, or it did not take the ring */
  ring(): Promise<void>;
}
