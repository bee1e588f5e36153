// Only the pool is loaded. undici's own entry also loads fetch, WebSocket, mocks and caches (12 MiB resident).
declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici';
  export default Pool;
}

declare module 'undici/lib/core/connect.js' {
  import { buildConnector } from 'undici';
  export default buildConnector;
}
