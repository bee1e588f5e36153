/** Runs one task at a time, in the order of the calls. A task that throws does not stop the next. */
export function createSerial(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const run = last.then(task);
    last = run.catch(() => {}); // the caller of `run` gets the failure; here it only ends the wait
    return run;
  };
}
