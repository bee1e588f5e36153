/** `npm start [-- ARGS]`: set-up, then the program itself. */
import { join } from 'node:path';
import { become } from './child.mjs';
import { root } from './paths.mjs';
import { fail, setUp } from './setup.mjs';

const node = await setUp().catch(fail);
process.exitCode = await become(node, [join(root, 'app', 'cli', 'hivebar.node.ts'), ...process.argv.slice(2)]);
