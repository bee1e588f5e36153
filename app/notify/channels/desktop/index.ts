export { type BackendOptions, chooseBackend } from './choose.node.ts';
