import { OLDEST_NODE } from '../oldest-node.ts';
import { STAMP_HEAD } from './stamp-text.ts';
import { createWaiterPart, SESSION } from './waiter-script.ts';

/** The values in the script. All paths are absolute. */
export interface ScriptFacts {
  readonly node: string;
  /** Where another Node of the package may be. They are tried in this order when `node` is gone. */
  readonly otherNodes: readonly string[];
  /** The file that node runs. */
  readonly entry: string;
  /** The state directory that the script is installed for. */
  readonly state: string;
  /** The variables that determine that directory, with their values at install; empty means not set. */
  readonly leads: Readonly<Record<string, string>>;
}

/** The file's name in `<state>/hook`. */
export const SCRIPT_NAME = 'hivebar-hook';

/** This line identifies what we wrote, and its form. */
const SCRIPT_HEADER = '# Hivebar hook, form 3.';

/**
 * Characters that the shell may use in file stems unchanged. They are listed one by one, since `[a-z]` includes capitals in some
 * locales.
 */
const PLAIN = 'abcdefghijklmnopqrstuvwxyz0123456789._-';

/**
 * Formats the shell part of the hook: POSIX sh, only builtins until it must start the program. When a stamp says that there is
 * nothing for this persona at this moment, it notes the moment in `run/activity/<stem>`, lets a `cat` behind it read the
 * harness's input, and ends with 0. In every other case it becomes the program, with stdin unread. Any failure ends with 0.
 *
 * A Node that is gone (for example after an upgrade) is searched beside the package and on PATH; one that is too old does not
 * count. A program that is gone is searched on PATH. If none is found, the person is told at the start of a session. A strict
 * gate whose file says that it is open then holds, because the script cannot check a gate, and a gate that cannot be checked
 * holds.
 *
 * @throws RangeError for a path with a control character
 */
export function formatScript({ node, otherNodes, entry, state, leads }: ScriptFacts): string {
  const leadLines = Object.entries(leads)
    .map(([name, value]) => LEAD.replaceAll('NAME', name).replaceAll('VALUE', () => quoteShellWord(value)))
    .join('');
  const nodes = otherNodes.map((path) => ` ${quoteShellWord(path)}`).join('');
  const facts = {
    NODE: quoteShellWord(node),
    NODES: nodes,
    ENTRY: quoteShellWord(entry),
    STATE: quoteShellWord(state),
    LEADS: leadLines,
  };
  return createTemplate().replace(
    /@([A-Z]+)@(\n?)/g,
    (_, name: keyof typeof facts, end: string) => `${facts[name]}${name === 'LEADS' ? '' : end}`,
  );
}

/** Quotes a text so that the shell reads exactly this text as one word. */
export function quoteShellWord(text: string): string {
  if (/\p{Cc}/u.test(text)) throw new RangeError(`${JSON.stringify(text)} has a control character`);
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Returns the Node and the program that a script of ours starts; null when the script is not ours. */
export function parseScriptStarts(text: string): readonly [string, string] | null {
  if (!text.includes('\n# Hivebar hook, form ')) return null;
  const [node, entry] = ['node', 'entry'].map((name) => {
    const word = new RegExp(`^${name}='((?:[^'\n]|'\\\\'')*)'$`, 'm').exec(text)?.[1];
    return word?.replaceAll("'\\''", "'");
  });
  return node === undefined || entry === undefined ? null : [node, entry];
}

/**
 * With another value the variable points to another Hivebar, which is started then. If it is not set, it is set here, so that the
 * program finds this one.
 */
const LEAD = `if [ "\${NAME-}" != VALUE ]; then
  [ -z "\${NAME-}" ] || ask
  NAME=VALUE
  export NAME
fi
`;

/** The text that tells the person what to do. Nothing in it needs escaping in JSON. */
const NOT_FOUND_MESSAGE =
  'Hivebar is not found by its hook, because Node or Hivebar was moved or removed: run hivebar hook install, or start Hivebar, which mends it';

/** A function, so that a bundle which writes no script does not contain it. */
const createTemplate = (): string => `#!/bin/sh
${SCRIPT_HEADER} hivebar hook install writes it anew.
# hivebar-hook HARNESS EVENT [PERSONA], the input of the harness on stdin
trap 'drain; exit 0' 0
node=@NODE@
entry=@ENTRY@
state=@STATE@
harness=\${1-}
event=\${2-}
given=\${3-}
input=
moment=$event
case $harness-$event in
  # They show nothing with a prompt, so what waits for a prompt is shown here.
  copilot-PostToolUse | cursor-PostToolUse) moment=UserPromptSubmit ;;
esac
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

# A Node that is too old would run nothing of Hivebar, and say nothing.
is_new() {
  "$1" -e '${IS_NEW_NODE}' </dev/null >/dev/null 2>&1
}

# The Node of the install, else one of the package, else the one on PATH.
find_node() {
  [ ! -x "$node" ] || return 0
  for node in@NODES@ "$(command -v node)"; do
    case $node in
      /* | ?:*) if [ -f "$node" ] && [ -x "$node" ] && is_new "$node"; then return 0; fi ;;
    esac
  done
  return 1
}

# The program of the install, else the command hivebar on PATH.
find_program() {
  find_node || return 1
  program=
  [ ! -r "$entry" ] || return 0
  program=$(command -v hivebar)
  case $program in
    /*) [ -f "$program" ] && [ -x "$program" ] ;;
    *) return 1 ;;
  esac
}

ask() {
  find_program || cannot_ask
  if [ -n "$persona" ]; then
    HIVEBAR_PERSONA=$persona
    export HIVEBAR_PERSONA
  fi
  set -- hook --harness "$harness" --event "$event"
  [ -n "$persona" ] || [ -z "$given" ] || set -- "$@" --persona "$given"
  if [ -n "$program" ]; then
    PATH=\${node%/*}:$PATH
    export PATH
    set -- "$program" "$@"
  else
    set -- "$node" "$entry" "$@"
  fi
  # zsh ends with 127 when it cannot start the program, whatever the trap says, so it stays and looks.
  if [ -n "\${ZSH_VERSION-}" ]; then
    "$@"
    code=$?
    case $code in 126 | 127) exit 0 ;; esac
    trap - 0
    exit "$code"
  fi
  # Else bash does the same.
  [ -z "\${BASH_VERSION-}" ] || shopt -s execfail
  exec "$@"
  exit 0
}

# There is nothing that could be asked.
cannot_ask() {
  [ -z "\${${PROBE}-}" ] || exit 0
  case $event in
    SessionStart)
      case $harness in copilot | cursor | goose | opencode) exit 0 ;; esac # they show no such message
      [ ! -d "$state" ] || is_foreign || echo '{"systemMessage":"hivebar: ${NOT_FOUND_MESSAGE}. No mail is shown to this agent meanwhile."}'
      ;;
    Stop | UserPromptSubmit | PreToolUse) hold ;;
  esac
  exit 0
}

# The whole input, in $input, with an x before it.
read_input() {
  [ -z "$input" ] || return 0
  while IFS= read -r line || [ -n "$line" ]; do input=$input$line; done
  input=x$input
}

# Another program runs the hooks of this one: VS Code names no session_id, Cursor says its version. It gets nothing.
is_foreign() {
  read_input
  case $input in
    *'"cursor_version":'*) return 0 ;;
    *'"session_id":'*) return 1 ;;
  esac
}

# Holds where a strict gate is open, a Stop once in a turn.
hold() {
  case $harness-$event in cursor-* | goose-* | opencode-* | copilot-UserPromptSubmit) return 0 ;; esac
  find_gates && open_gates || return 0
  reason="hivebar: not yet. Strict gates that cannot be checked are open:$open. ${NOT_FOUND_MESSAGE}."
  case $harness-$event in
    gemini-PreToolUse) echo '{"decision":"deny","reason":"'"$reason"'"}' ;;
    copilot-PreToolUse) echo '{"permissionDecision":"deny","permissionDecisionReason":"'"$reason"'"}' ;;
    *-PreToolUse)
      echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"'"$reason"'"}}'
      ;;
    *) echo '{"decision":"block","reason":"'"$reason"'"}' ;;
  esac
}

# The folder of this persona's gates. A name that is no file name has it in its stamp.
find_gates() {
  gates=
  whose=\${persona:-$given}
  case $whose in
    '') return 1 ;;
    *[!${PLAIN}]* | *.)
      for stamp in "$state"/run/pending/*~??????; do
        while IFS= read -r line; do
          case $line in
            'persona '*) [ "$line" = "persona $whose" ] || break ;;
            'gates '*) gates=\${line#gates } ;;
          esac
        done <"$stamp"
      done 2>/dev/null
      ;;
    *) gates=$state/gates/\${whose#local-} ;;
  esac
  [ -n "$gates" ]
}

# The strict gates of this moment that nobody marked, in $open. Not those that this call does not concern: a helper of the
# agent, a turn that was held already, another tool.
open_gates() {
  open=
  for file in "$gates"/*.json; do
    [ -f "$file" ] || continue
    is=
    tool=
    while IFS= read -r line; do
      case $line in
        '  "hook": "'"$event"'",' | '  "mode": "strict",' | '  "satisfied_by": null,') is=x$is ;;
        '  "tool": "'*'|'* | '  "tool": "'*'*'*) ;;
        '  "tool": "'*) tool=\${line#*: } ;;
      esac
    done <"$file"
    [ "$is" = xxx ] || continue
    if is_foreign; then return 1; fi
    case $input in
      *'"agent_id":'* | *'"stop_hook_active":true'* | *'"stop_hook_active": true'*) continue ;;
    esac
    if [ -n "$tool" ]; then
      case $input in
        *'"tool_name":'"\${tool%,}"* | *'"tool_name": '"\${tool%,}"*) ;;
        *) continue ;;
      esac
    fi
    file=\${file##*/}
    open="$open \${file%.json}"
  done
  [ -n "$open" ]
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
  [ "$line" = "persona $owner" ] || return 1
  IFS= read -r line || return 1
  case "$line " in
    quiet*" $moment "*) ;;
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
  # An agent asked its person for something: whose it was, and that it went on, stands in the input.
  [ ! -e "$state/run/prompts/$stem" ] || return 1
  says_quiet <"$stamp" 2>/dev/null || return 1
  drained "$state/inject-queue" || return 1
  drained .runtime/inject-queue || return 1
  [ -z "\${CLAUDE_PROJECT_DIR-}" ] || drained "$CLAUDE_PROJECT_DIR/.runtime/inject-queue"
}

pass() {
  { echo "$event" >"$state/run/activity/$stem"; } 2>/dev/null
  exit 0
}
${createWaiterPart(PLAIN)}

# Cursor and Copilot CLI run the hooks of Claude Code, too. Claude Code in a terminal or a tool of theirs says who it is.
if [ "$harness" = claude ] && [ -z "\${${PROBE}-}" ]; then
  [ -z "\${COPILOT_PROJECT_DIR-}" ] || exit 0
  [ -z "\${CURSOR_VERSION-}\${COPILOT_CLI-}" ] || [ -n "\${CLAUDECODE-}\${CLAUDE_CODE_SESSION_ID-}" ] || exit 0
fi

@LEADS@
# Whose stamp it is. When nobody names a persona, it is the one that announced the session; what is asked finds that out by itself.
owner=$persona
if [ -z "$owner" ] && [ "$harness" = claude ]; then
  case \${CLAUDE_CODE_SESSION_ID-} in
    '' | *[!${SESSION}]*) ;;
    *) { IFS= read -r owner <"$state/run/owners/$CLAUDE_CODE_SESSION_ID" || owner=; } 2>/dev/null ;;
  esac
fi
[ "$event" != Wait ] || wait_for_mail
if [ -n "$owner" ] && [ -z "\${${PROBE}-}" ]; then
  case $owner in
    *[!${PLAIN}]* | *.)
      for stamp in "$state"/run/pending/*~??????; do
        if is_quiet; then pass; fi
      done
      ;;
    *)
      stamp=$state/run/pending/$owner
      if is_quiet; then pass; fi
      ;;
  esac
fi
ask
`;

const [MAJOR, MINOR] = OLDEST_NODE;

/**
 * A text for `node -e`, which ends with 0 on a Node that can run this program. Every Node can parse it, and it has no quote and
 * no percent sign.
 */
export const IS_NEW_NODE = `var n = process.versions.node.split(/[.]/); process.exit(n[0] > ${MAJOR} || (n[0] == ${MAJOR} && n[1] >= ${MINOR}) ? 0 : 1)`;

/** With this variable the command in the settings prints `PROBE_ANSWER` and does nothing else, so that it can be tested. */
export const PROBE = 'HIVEBAR_HOOK_PROBE';
export const PROBE_ANSWER = 'hivebar hook: it runs';
