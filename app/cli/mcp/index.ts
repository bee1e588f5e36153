export { openMcpHttp } from './http.node.ts';
export { runMcpServer } from './server.node.ts';
