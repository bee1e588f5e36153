import { Fault, type FaultCode } from '../../model/index.ts';
import type { FaultLine } from './lines.ts';

/** Why a poll of a source failed. */
export class SourceFault extends Fault {
  /** Nothing is tried again until its settings change, or a person restarts it. */
  readonly isFinal: boolean;
  /** When the source wants to be polled again, in milliseconds; null when it does not say. */
  readonly retryMs: number | null;

  constructor(code: FaultCode, source: string, message: string, more: SourceFaultDetails = {}) {
    const options = more.cause === undefined ? {} : { cause: more.cause };
    super(code, `${source}: ${message}`, { is: 'source', key: source }, options);
    this.isFinal = more.isFinal ?? false;
    this.retryMs = more.retryMs ?? null;
  }
}

interface SourceFaultDetails {
  readonly isFinal?: boolean;
  readonly retryMs?: number | null;
  readonly cause?: unknown;
}

const CODES = {
  auth: 'source-auth',
  unreachable: 'source-down',
  schema: 'source-schema',
  busy: 'source-down',
  config: 'source-config',
} as const satisfies Record<FaultLine['code'], FaultCode>;

/** What a source says is wrong, in its own words. */
export function toSourceFault(source: string, { code, message, retryMs }: FaultLine): SourceFault {
  return new SourceFault(CODES[code], source, code === message ? code : `${code}: ${message}`, { retryMs });
}
