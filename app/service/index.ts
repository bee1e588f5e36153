export { createLoginStart, type LoginLook, type LoginNeeds, type LoginStart } from './login-start.ts';
export { type LoginMachine, loginStart } from './own.node.ts';
