// Loaded before a program with NODE_OPTIONS=--require: at its end it adds a line to PROBE_FILE about what the program loaded.
const { appendFileSync, statSync } = require('node:fs');
const { registerHooks } = require('node:module');
const { fileURLToPath } = require('node:url');

const loaded = new Set();
registerHooks({
  load(url, context, nextLoad) {
    if (url.startsWith('file:')) loaded.add(url);
    return nextLoad(url, context);
  },
});

process.once('exit', () => {
  const bytes = [...loaded].reduce((sum, url) => sum + statSync(fileURLToPath(url)).size, 0);
  const parts = process.moduleLoadList.filter((name) => name.startsWith('NativeModule ')).length;
  appendFileSync(process.env.PROBE_FILE, `${JSON.stringify({ modules: loaded.size, bytes, parts })}\n`);
});
