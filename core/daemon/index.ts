export { step } from './machine.ts';
export type {
  Effect,
  Errors,
  Happening,
  Input,
  MachineState,
  Now,
  Output,
  Rules,
  Transition,
} from './machine-state.ts';
