/** Commits jobs that arrive together in one commit, with one flush for all of them. */
export interface GroupCommit<Job, Answer> {
  /** Resolves with the job's answer once its group is committed; rejects with what the commit threw. */
  add(job: Job): Promise<Answer>;
  /** Commits the jobs gathered so far now, instead of at the end of the turn. */
  flush(): void;
}

/** Decides when a gathering group is committed, by calling `run`. It is called with the first job of each group. */
export type CommitSchedule = (run: () => void, group: { readonly isCrowd: boolean; isFull(): boolean }) => void;

/** A group of this many is committed at once: by then its share of a flush is small, and its jobs fill the memory. */
const MOST_JOBS = 1000;

/** How many recent groups are remembered. The largest of them is the expected size of the next group. */
const REMEMBERED = 8;

/**
 * Groups jobs by their arrival. The first job of a turn of the event loop is committed at once. Later jobs gather until the loop
 * has handled all ready input, where the turn ends. So a lone job waits for nobody, and 1,000 at once cost two flushes.
 * After a group of several jobs, the next group gathers from its first job on: a crowd then costs one flush per turn and not two.
 * A group is full when it is as large as the largest of the last eight. A group of 1,000 does not wait at all.
 *
 * `commit` gets the jobs in order of arrival and returns their answers in that order. When it throws, every job of the group
 * fails with the same error, so check a job before adding it. `later` schedules the commit; by default as described here.
 */
export function createGroupCommit<Job, Answer>(
  commit: (jobs: readonly Job[]) => readonly Answer[],
  later: CommitSchedule = createCommitSchedule(),
): GroupCommit<Job, Answer> {
  let waiting: { job: Job; deferred: PromiseWithResolvers<Answer> }[] = [];
  let isCrowd = false;
  const sizes: number[] = [];
  const isFull = (): boolean => waiting.length >= Math.max(1, ...sizes);

  function flush(): void {
    const group = waiting;
    waiting = [];
    if (group.length === 0) return;
    isCrowd = group.length > 1;
    sizes.push(group.length);
    if (sizes.length > REMEMBERED) sizes.shift();
    let answers: readonly Answer[];
    try {
      answers = commit(group.map((member) => member.job));
    } catch (error) {
      for (const member of group) member.deferred.reject(error);
      return;
    }
    group.forEach((member, i) => {
      member.deferred.resolve(answers[i] as Answer);
    });
  }

  return {
    add(job) {
      const deferred = Promise.withResolvers<Answer>();
      waiting.push({ job, deferred });
      if (waiting.length === MOST_JOBS) flush();
      else if (waiting.length === 1) later(flush, { isCrowd, isFull });
      return deferred.promise;
    },
    flush,
  };
}

/**
 * Runs the first commit of a turn at once, unless it belongs to a crowd. Each further one runs after the input events of the
 * turn.
 *
 * @param patienceMs how long a crowd waits for the callers that came with it before, in milliseconds. A caller with an answer
 * comes again a moment later, and a commit of half the crowd costs as much as one of all. 0: not beyond the turn
 * @param first `after the call`: the first commit of a turn runs in a microtask. Jobs that one call adds one after the other, such as
 * the mail of 1,000 personas, then share one flush
 */
export function createCommitSchedule(patienceMs = 0, first: 'at once' | 'after the call' = 'at once'): CommitSchedule {
  let isFirst = true;
  return (run, { isCrowd, isFull }) => {
    if (!isFirst || isCrowd) {
      const until = performance.now() + patienceMs;
      const gather = (): void => {
        if (isFull() || performance.now() >= until) run();
        else setImmediate(gather); // input that arrives in between is handled; no timer is this short
      };
      setImmediate(gather);
      return;
    }
    isFirst = false;
    setImmediate(() => {
      isFirst = true;
    });
    if (first === 'at once') run();
    else queueMicrotask(run);
  };
}
