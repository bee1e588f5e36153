/** A way to reach an agent while no hook asks: an address on this machine where the agent's runner listens. */
export interface WakePath {
  /** Whether there is an address now. */
  isThere(): boolean;
  /** @throws Error if there is no address, or the runner did not take the ring */
  ring(): Promise<void>;
}
