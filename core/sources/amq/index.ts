export { amqLayout } from './layout.ts';
