export { type BusNeeds, openSessionBus } from './open-session-bus.node.ts';
export {
  type BusCall,
  BusError,
  type BusInterface,
  type BusMethod,
  type BusSignal,
  type BusState,
  type NoBus,
  type ServedObject,
  type SessionBus,
  type SignalFilter,
  type Variant,
} from './session-bus.ts';
