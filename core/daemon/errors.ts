import { ERROR_CLASSES, type ErrorClass } from '../link/index.ts';
import { Fault, type FaultCode } from '../model/index.ts';
import type { ErrorCounts } from './machine-state.ts';

const BY_FAULT: Partial<Record<FaultCode, ErrorClass>> = {
  'daemon-config': 'config_invalid',
  settings: 'config_invalid',
  usage: 'config_invalid',
  'daemon-socket': 'ipc_bind_failed',
};

/** What the operating system was asked for when it failed. */
const BY_CALL: Readonly<Record<string, ErrorClass>> = {
  listen: 'ipc_bind_failed',
  bind: 'ipc_bind_failed',
  connect: 'ws_connect_failed',
  getaddrinfo: 'ws_connect_failed',
};

const TLS = /^(CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|EPROTO$)/;

/**
 * The class of anything that was thrown (persona daemon, contract 6): of ten, whatever comes. What is in it goes to the log
 * only. Where the caller knows what it was doing, it says the class itself.
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

/** Each of the ten, never seen: what is not counted yet is shown as 0 and not left out. */
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
    return null; // a getter of a stranger's that throws says nothing
  }
}
