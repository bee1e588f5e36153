export type { Faults, PendingFault, StreamFault } from './faults.ts';
export type { UpstreamPersona } from './personas.ts';
export type { Pending, QueueDrain, Signal, SignalItem, SignalQueue } from './queue.ts';
export type { Caller, Frame, Recording, WireEvent, WireEventKind } from './recording.ts';
export type { Registration, Registrations } from './registrations.ts';
export { type ReferenceUpstream, referenceUpstream, type Tokens, type UpstreamOptions } from './upstream.ts';
