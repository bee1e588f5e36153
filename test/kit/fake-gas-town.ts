import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { scratch } from './scratch.ts';

/** A bead as `bd list --json` lists it. */
export interface Bead {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly status: string;
  readonly priority: number;
  readonly assignee: string;
  readonly created_at: string;
  labels: string[];
}

export interface TownMail {
  readonly id?: string;
  readonly from?: string;
  readonly subject?: string;
  readonly priority?: number;
  readonly type?: string;
  readonly isRead?: boolean;
  /** In the table of messages that are not kept, which only `bd sql` shows. */
  readonly isWisp?: boolean;
  readonly status?: string;
  readonly labels?: readonly string[];
}

/**
 * A town for tests: a folder, and programs `bd` and `gt` that answer from files and write down how they were called. Those commands
 * of `gt` that mark what they show do so here too.
 */
export interface FakeTown extends Disposable {
  readonly dir: string;
  readonly bd: string;
  /** The environment in which these programs are the only ones, beside those of the system. */
  readonly env: Readonly<Record<string, string>>;
  /** What `bd list` answers from. */
  readonly store: string;
  /** One line per call: the program and its arguments. */
  calls(): readonly string[];
  send(address: string, body: string, mail?: TownMail): string;
  readAll(address: string): void;
  /** Deletes all mail of a member. */
  remove(address: string): void;
  relabel(id: string, change: (labels: readonly string[]) => readonly string[]): void;
  /** `exit 1`, `text`, `hang`, `cut N`, `none` for the text of an empty list; null: it answers. */
  fail(how: string | null): void;
  /** The arguments of the last call of `gt`, and then in which folder and as whom it ran. */
  lastGt(): { readonly args: readonly string[]; readonly identity: string };
  /** From now on `gt` refuses with these words. */
  refuseGt(words: string): void;
  hide(): void;
  show(): void;
}

const BD = `#!/bin/sh
here=\${0%/*}/..
echo "bd $*" >> "$here/calls"
how=$(cat "$here/fault" 2>/dev/null)
case "$how" in
  'exit 1') echo 'Error: the server is gone' >&2; exit 1 ;;
  text) echo 'Starting the server ...'; exit 0 ;;
  hang) exec sleep 600 ;;
  cut*) [ "$1" = list ] && { head -c "\${how#cut }" "$here/list.json"; exit 0; } ;;
esac
case "$1" in
  list) if [ "$how" = none ]; then echo 'No issues found.'; else cat "$here/list.json"; fi ;;
  sql) cat "$here/wisps.json" ;;
  *) echo "$1" >> "$here/wrote"; exit 2 ;;
esac
`;
const GT = `#!/bin/sh
here=\${0%/*}/..
echo "gt $*" >> "$here/calls"
echo "$*" >> "$here/wrote"
printf '%s\n' "$@" > "$here/arguments"
echo "$PWD $GT_ROLE$BD_ACTOR" > "$here/identity"
[ -f "$here/refusal" ] && { cat "$here/refusal" >&2; exit 1; }
exit 0
`;

export function fakeTown(): FakeTown {
  const home = scratch();
  const dir = home.at('gt');
  const bin = home.at('bin');
  for (const folder of [dir, `${dir}/.beads`, bin]) mkdirSync(folder, { recursive: true });
  const bd = `${bin}/bd`;
  writeFileSync(bd, BD, { mode: 0o700 });
  writeFileSync(`${bin}/gt`, GT, { mode: 0o700 });
  const store = home.at('list.json');
  let beads: Bead[] = [];
  let wisps: Bead[] = [];
  let last = 0;
  const put = (path: string, value: unknown): void => {
    writeFileSync(`${path}.new`, JSON.stringify(value));
    renameSync(`${path}.new`, path);
  };
  const save = (): void => {
    put(store, beads);
    const rows = wisps.flatMap(({ labels, ...bead }) => labels.map((label) => ({ ...bead, label })));
    put(home.at('wisps.json'), rows);
  };
  save();
  return {
    dir,
    bd,
    env: { PATH: `${bin}:/usr/bin:/bin` },
    store,
    calls: () => (existsSync(home.at('calls')) ? readFileSync(home.at('calls'), 'utf8').split('\n').slice(0, -1) : []),
    send(address, body, mail = {}) {
      last += 1;
      const { id = `hq-${last}`, from = 'cy', subject = body, priority = 2, type = 'notification' } = mail;
      const bead: Bead = {
        ...{ id, title: subject, description: body, status: mail.status ?? 'open', priority, assignee: address },
        created_at: new Date(Date.UTC(2026, 3, 30, 9) + last * 1000).toISOString(),
        labels: [
          ...['gt:message', `from:${from}`, `msg-type:${type}`],
          ...(mail.isRead ? ['read'] : []),
          ...(mail.labels ?? []),
        ],
      };
      (mail.isWisp ? wisps : beads).push(bead);
      save();
      return id;
    },
    readAll(address) {
      for (const bead of [...beads, ...wisps])
        if (bead.assignee === address && !bead.labels.includes('read')) bead.labels.push('read');
      save();
    },
    remove(address) {
      beads = beads.filter(({ assignee }) => assignee !== address);
      wisps = wisps.filter(({ assignee }) => assignee !== address);
      save();
    },
    relabel(id, change) {
      for (const bead of [...beads, ...wisps]) if (bead.id === id) bead.labels = [...change(bead.labels)];
      save();
    },
    fail(how) {
      if (how === null) rmSync(home.at('fault'), { force: true });
      else writeFileSync(home.at('fault'), how);
    },
    lastGt: () => ({
      args: readFileSync(home.at('arguments'), 'utf8').split('\n').slice(0, -1),
      identity: readFileSync(home.at('identity'), 'utf8').trim(),
    }),
    refuseGt: (words) => writeFileSync(home.at('refusal'), words),
    hide: () => renameSync(bd, `${bd}.away`),
    show: () => renameSync(`${bd}.away`, bd),
    [Symbol.dispose]: () => home[Symbol.dispose](),
  };
}
