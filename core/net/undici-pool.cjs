// Only the pool is loaded. undici's own entry also loads fetch, WebSocket, mocks and caches (12 MiB resident). This is CommonJS, so
// that a caller loads it in the middle of a function; the package has it as a file of this name.
module.exports = {
  Pool: require('undici/lib/dispatcher/pool.js'),
  buildConnector: require('undici/lib/core/connect.js'),
};
