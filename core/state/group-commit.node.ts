/** Jobs that arrive together are committed together, with one flush for all of them. */
export interface GroupCommit<Job, Answer> {
  /** Resolves with the job's answer once its group is committed; rejects with what the commit threw. */
  add(job: Job): Promise<Answer>;
  /** Commits what has gathered now instead of at the end of the turn. */
  flush(): void;
}

/**
 * A group forms by itself: the first job of a turn of the event loop is committed at once, and what comes after it gathers
 * until the loop has handled all input that is ready, where the turn ends. So a lone job waits for nobody, and 1,000 at once
 * cost two flushes. After a group of several the next one gathers from its first job on: who comes in a crowd costs one
 * flush a turn and not two.
 *
 * `commit` gets the jobs in order of arrival and gives their answers in that order. When it throws, every job of the
 * group fails with the same error, so check a job before adding it. `later` runs the commit, by default as said; `crowd`:
 * the last group was one of several.
 */
export function groupCommit<Job, Answer>(
  commit: (jobs: readonly Job[]) => readonly Answer[],
  later: (run: () => void, crowd: boolean) => void = atOnceOrAfterInput(),
): GroupCommit<Job, Answer> {
  let waiting: { job: Job; settle: PromiseWithResolvers<Answer> }[] = [];
  let crowd = false;

  function flush(): void {
    const group = waiting;
    waiting = [];
    if (group.length === 0) return;
    crowd = group.length > 1;
    let answers: readonly Answer[];
    try {
      answers = commit(group.map((member) => member.job));
    } catch (error) {
      for (const member of group) member.settle.reject(error);
      return;
    }
    group.forEach((member, i) => {
      member.settle.resolve(answers[i] as Answer);
    });
  }

  return {
    add(job) {
      const settle = Promise.withResolvers<Answer>();
      waiting.push({ job, settle });
      if (waiting.length === 1) later(flush, crowd);
      return settle.promise;
    },
    flush,
  };
}

/** The first of a turn runs at once, unless it comes in a crowd; each further one after the input events of the turn. */
function atOnceOrAfterInput(): (run: () => void, crowd: boolean) => void {
  let isFirst = true;
  return (run, crowd) => {
    if (!isFirst || crowd) {
      setImmediate(run);
      return;
    }
    isFirst = false;
    setImmediate(() => {
      isFirst = true;
    });
    run();
  };
}
