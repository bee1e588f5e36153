import { ERROR_CLASSES, type ErrorClass } from '../link/index.ts';
import { Fault, type FaultCode } from '../model/index.ts';
import type { ErrorCounts } from './machine-state.ts';

const BY_FAULT: Partial<Record<FaultCode, ErrorClass>> = {
  'daemon-config': 'config_invalid',
  settings: 'config_invalid',
  usage: 'config_invalid',
  'daemon-socket': 'ipc_bind_failed',
};

/** The class for each failed system call. */
const BY_CALL: Readonly<Record<string, ErrorClass>> = {
  listen: 'ipc_bind_failed',
  bind: 'ipc_bind_failed',
  connect: 'ws_connect_failed',
  getaddrinfo: 'ws_connect_failed',
};

const TLS = /^(CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|EPROTO$)/;

/**
 * Maps anything that was thrown to one of the ten classes (persona daemon, contract 6). The error's own text goes only to the
 * log. A caller that knows what it was doing gives the class itself.
 */
export function classifyError(thrown: unknown): ErrorClass {
  if (isErrorClass(thrown)) return thrown;
  if (thrown instanceof Fault) return BY_FAULT[thrown.code] ?? 'unclassified';
  const call = readText(thrown, 'syscall');
  if (call !== null && Object.hasOwn(BY_CALL, call)) return BY_CALL[call] ?? 'unclassified';
  return TLS.test(readText(thrown, 'code') ?? '') ? 'ws_connect_failed' : 'unclassified';
}

export function isErrorClass(value: unknown): value is ErrorClass {
  return ERROR_CLASSES.some((known) => known === value);
}

/** Counts for all ten classes, starting at 0, so that a class without errors is shown as 0 and not left out. */
export function createErrors(): ErrorCounts {
  return Object.fromEntries(ERROR_CLASSES.map((errorClass) => [errorClass, { count: 0, at: null }])) as Record<
    ErrorClass,
    ErrorCounts[ErrorClass]
  >;
}

function readText(value: unknown, key: string): string | null {
  if (value === null || typeof value !== 'object') return null;
  try {
    const field = (value as Readonly<Record<string, unknown>>)[key];
    return typeof field === 'string' ? field : null;
  } catch {
    return null; // a foreign getter threw, so there is nothing to read
  }
}
