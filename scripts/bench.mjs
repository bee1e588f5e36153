/** `npm run bench [-- WORDS]`: set-up, then every line of "what it must reach", beside its floor of the same run. */
import { join } from 'node:path';
import { become } from './child.mjs';
import { root } from './paths.mjs';
import { fail, setUp } from './setup.mjs';

const node = await setUp().catch(fail);
process.exitCode = await become(node, [join(root, 'test', 'bench', 'run.ts'), ...process.argv.slice(2)], { cwd: root });
