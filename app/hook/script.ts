import { STAMP_HEAD } from './stamp-text.ts';

/** What the script must know; all paths are absolute. */
export interface ScriptFacts {
  readonly node: string;
  /** The file that node runs. */
  readonly entry: string;
  /** The state directory it is installed for. */
  readonly state: string;
  /** Variables that lead to that directory, as they were at install; empty: not set. */
  readonly leads: Readonly<Record<string, string>>;
}

/** The file's name in `<state>/hook`. */
export const SCRIPT_NAME = 'hivebar-hook';

/** By this line we know what we wrote, and which form it has. */
export const SCRIPT_MARK = '# Hivebar hook, form 1.';

/** Names the shell takes as file stems as they are; spelled out, since `[a-z]` holds capitals in some languages. */
const PLAIN = 'abcdefghijklmnopqrstuvwxyz0123456789._-';

/**
 * The shell part of the hook: POSIX sh, builtins only until it has to ask. When a stamp says that there is nothing for
 * this persona at this moment, it notes the moment in `run/activity/<stem>`, leaves what the harness writes to a `cat` behind it and
 * ends with 0; in every other case it becomes the program, with stdin as it came. Whatever breaks ends with 0: a hook of ours
 * blocks only when the program says so.
 *
 * @throws RangeError for a path with a control character
 */
export function scriptText({ node, entry, state, leads }: ScriptFacts): string {
  const led = Object.entries(leads)
    .map(([name, value]) => LEAD.replaceAll('NAME', name).replaceAll('VALUE', () => quoted(value)))
    .join('');
  const facts = { NODE: quoted(node), ENTRY: quoted(entry), STATE: quoted(state), LEADS: led };
  return template().replace(
    /@([A-Z]+)@\n?/g,
    (_, name: keyof typeof facts) => `${facts[name]}${name === 'LEADS' ? '' : '\n'}`,
  );
}

/** A word of the shell that stands for exactly this text. */
export function quoted(text: string): string {
  if (/\p{Cc}/u.test(text)) throw new RangeError(`${JSON.stringify(text)} has a control character`);
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Another value leads to another Hivebar, which is asked; none is mended, so that the program finds this one. */
const LEAD = `if [ "\${NAME-}" != VALUE ]; then
  [ -z "\${NAME-}" ] || ask
  NAME=VALUE
  export NAME
fi
`;

/** A function, so that a bundle which writes no script has none of it. */
const template = (): string => `#!/bin/sh
${SCRIPT_MARK} hivebar hook install writes it anew.
# hivebar-hook HARNESS EVENT [PERSONA], the input of the harness on stdin
trap 'drain; exit 0' 0
node=@NODE@
entry=@ENTRY@
state=@STATE@
harness=\${1-}
event=\${2-}
given=\${3-}
case $harness in
  # Its hooks run in a server with the environment of the first agent: whose this one is only the program can tell.
  codex) persona= ;;
  *) persona=\${HIVEBAR_PERSONA:-$given} ;;
esac

# Reads what the harness still writes, behind our end: to some a hook that does not read has failed.
drain() {
  exec 3<&0
  /bin/cat <&3 >/dev/null 2>&1 &
}

ask() {
  if [ -x "$node" ] && [ -r "$entry" ]; then
    if [ -n "$persona" ]; then
      HIVEBAR_PERSONA=$persona
      export HIVEBAR_PERSONA
    fi
    # Else bash ends with 127 when it can not be started, whatever the trap says.
    [ -z "\${BASH_VERSION-}" ] || shopt -s execfail
    set -- --harness "$harness" --event "$event"
    [ -n "$persona" ] || [ -z "$given" ] || set -- "$@" --persona "$given"
    exec "$node" "$entry" hook "$@"
  fi
  exit 0
}

# Nothing waits in this folder of queue files. What could not be read lies in .bad files, and waits for nobody.
drained() {
  for file in "$1"/*; do
    case $file in
      *.bad | *.lock) ;;
      *) if [ -f "$file" ] && [ -s "$file" ]; then return 1; fi ;;
    esac
  done
  return 0
}

# The stamp on stdin is whole, of this persona, and says that there is nothing for this event.
says_quiet() {
  IFS= read -r line || return 1
  [ "$line" = '${STAMP_HEAD}' ] || return 1
  IFS= read -r line || return 1
  [ "$line" = "persona $persona" ] || return 1
  IFS= read -r line || return 1
  case "$line " in
    quiet*" $event "*) ;;
    *) return 1 ;;
  esac
  while IFS= read -r line; do
    case $line in
      end) return 0 ;;
      'gates '*) unchanged "\${line#gates }" || return 1 ;;
      'folder '*) drained "\${line#folder }/.runtime/inject-queue" || return 1 ;;
      *) return 1 ;;
    esac
  done
  return 1
}

# Not changed since the stamp was made; as old as the stamp is too new.
unchanged() {
  [ ! -e "$1" ] || [ "$stamp" -nt "$1" ]
}

is_quiet() {
  stem=\${stamp##*/}
  [ -f "$stamp" ] || return 1
  says_quiet <"$stamp" 2>/dev/null || return 1
  drained "$state/inject-queue" || return 1
  drained .runtime/inject-queue || return 1
  [ -z "\${CLAUDE_PROJECT_DIR-}" ] || drained "$CLAUDE_PROJECT_DIR/.runtime/inject-queue"
}

pass() {
  { echo "$event" >"$state/run/activity/$stem"; } 2>/dev/null
  exit 0
}

@LEADS@
if [ -n "$persona" ]; then
  case $persona in
    *[!${PLAIN}]* | *.)
      for stamp in "$state"/run/pending/*~??????; do
        if is_quiet; then pass; fi
      done
      ;;
    *)
      stamp=$state/run/pending/$persona
      if is_quiet; then pass; fi
      ;;
  esac
fi
ask
`;
