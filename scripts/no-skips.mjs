/**
 * A reporter for `node --test` beside the readable one: where nothing may be missing (CI), a skipped or postponed test
 * fails the run, however it came to be skipped.
 */
export default async function* noSkips(source) {
  const left = [];
  for await (const { type, data } of source) {
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const why = data.skip ?? data.todo;
    if (why !== undefined)
      left.push(`${data.file}:${data.line} ${data.name}${typeof why === 'string' ? `: ${why}` : ''}`);
  }
  if (left.length === 0) return;
  process.exitCode = 1;
  yield `no test may be skipped here:\n${left.map((line) => `  ${line}\n`).join('')}`;
}
