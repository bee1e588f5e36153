/** Jobs that arrive together are committed together, with one flush for all of them. */
export interface GroupCommit<Job, Answer> {
  /** Resolves with the job's answer once its group is committed; rejects with what the commit threw. */
  add(job: Job): Promise<Answer>;
  /** Commits what has gathered now instead of at the end of the turn. */
  flush(): void;
}

/** When a group that gathers is committed: `run` does it. Called with the first job of each group. */
export type CommitSchedule = (run: () => void, group: { readonly isCrowd: boolean; isFull(): boolean }) => void;

/** Of so many groups the largest says how many may come. */
const REMEMBERED = 8;

/**
 * A group forms by itself: the first job of a turn of the event loop is committed at once, and what comes after it gathers
 * until the loop has handled all input that is ready, where the turn ends. So a lone job waits for nobody, and 1,000 at once
 * cost two flushes. After a group of several the next one gathers from its first job on: who comes in a crowd costs one
 * flush a turn and not two. It is full when it has as many as the largest of the last eight.
 *
 * `commit` gets the jobs in order of arrival and gives their answers in that order. When it throws, every job of the
 * group fails with the same error, so check a job before adding it. `later` runs the commit, by default at the end of the
 * turn, as said.
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
      if (waiting.length === 1) later(flush, { isCrowd, isFull });
      return deferred.promise;
    },
    flush,
  };
}

/**
 * The first of a turn runs at once, unless it comes in a crowd; each further one after the input events of the turn.
 *
 * @param patienceMs how long a crowd waits for those who came with it before: whoever has an answer comes again a moment
 *   later, and a commit of half of them costs as much as one of all. 0: not beyond the turn
 */
export function createCommitSchedule(patienceMs = 0): CommitSchedule {
  let isFirst = true;
  return (run, { isCrowd, isFull }) => {
    if (!isFirst || isCrowd) {
      const until = performance.now() + patienceMs;
      const gather = (): void => {
        if (isFull() || performance.now() >= until) run();
        else setImmediate(gather); // what comes in between is handled: no timer is as short
      };
      setImmediate(gather);
      return;
    }
    isFirst = false;
    setImmediate(() => {
      isFirst = true;
    });
    run();
  };
}
