export { runMcpServer } from './server.node.ts';
