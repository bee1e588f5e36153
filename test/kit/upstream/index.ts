export type { Faults, PendingFault, StreamFault } from './faults.ts';
export type { UpstreamPersona } from './personas.ts';
export type { Drained, Pending, Signal, SignalItem, SignalQueue } from './queue.ts';
export type { Caller, Frame, Recorded, RecordedOf, Recording } from './recording.ts';
export type { Registration, Registrations } from './registrations.ts';
export { type ReferenceUpstream, referenceUpstream, type Tokens, type UpstreamOptions } from './upstream.ts';
