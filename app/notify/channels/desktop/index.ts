export { chooseDriver, type DriverOptions } from './choose.node.ts';
