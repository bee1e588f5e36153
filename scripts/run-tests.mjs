/**
 * `run-tests.mjs JOBS FILES`: runs test files as `node --test` does, but begins them in the order of the arguments, where that
 * sorts them by name. With CI a skipped test is a failure.
 */
import process from 'node:process';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import noSkips from './no-skips.mjs';

const [jobs, ...files] = process.argv.slice(2);
const events = run({ files, concurrency: Number(jobs), timeout: 900_000 });
events.on('test:summary', ({ success }) => {
  if (!success) process.exitCode = 1;
});
events.compose(new spec()).pipe(process.stdout);
if (process.env.CI) events.compose(noSkips).pipe(process.stderr);
