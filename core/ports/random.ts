export interface Random {
  /** Returns `bytes` random bytes as lower-case hex. */
  hex(bytes: number): string;
}
