export { codeOfStatus } from './backoff.ts';
export { doorbellAt } from './doorbell.ts';
export { classOf, isErrorClass } from './errors.ts';
export { atStart, dueMono, step, withoutIndex } from './machine.ts';
export { ownMachineId } from './machine-id.node.ts';
export type {
  Effect,
  Errors,
  Happening,
  Input,
  MachineState,
  Now,
  Output,
  Rules,
} from './machine-state.ts';
