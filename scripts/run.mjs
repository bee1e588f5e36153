/** `node scripts/run.mjs FILE.ts [ARGS]`: set-up, then a TypeScript file of the project on its own Node. */
import { become } from './child.mjs';
import { root } from './paths.mjs';
import { fail, setUp } from './setup.mjs';

const node = await setUp().catch(fail);
process.exitCode = await become(node, process.argv.slice(2), { cwd: root });
