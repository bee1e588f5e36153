#!/bin/sh
# hook.sh HARNESS EVENT, with the input of the harness on stdin. It becomes the hook script of the Hivebar on this machine, see
# docs/decisions/0159. It says nothing and ends with 0 when there is no Hivebar, and when the settings have the same hook already.
harness=$1
event=$2

# To some harnesses a hook that does not read its input has failed.
leave() {
  cat >/dev/null 2>&1
  exit 0
}

# Other programs read the plugins of Claude Code, too.
is_foreign() {
  [ "$harness" = claude ] && [ -z "${CLAUDECODE-}${CLAUDE_CODE_SESSION_ID-}" ]
}

# `hivebar hook install` put a hook for this moment into settings that this harness reads.
is_in_settings() {
  case $harness in
    claude)
      project=${CLAUDE_PROJECT_DIR:-.}/.claude
      set -- "${CLAUDE_CONFIG_DIR:-${HOME-}/.claude}/settings.json" "$project/settings.json" "$project/settings.local.json"
      ;;
    *)
      set -- "${CODEX_HOME:-${HOME-}/.codex}/hooks.json"
      folder=${PWD-}
      while [ -n "$folder" ]; do
        set -- "$@" "$folder/.codex/hooks.json"
        folder=${folder%/*}
      done
      ;;
  esac
  grep -qs "hivebar-hook[-0-9a-f]*' $harness $event[ \"]" "$@"
}

# The script in the state directory, which has one place on each system.
find_script() {
  if [ -n "${HIVEBAR_HOME-}" ]; then
    set -- "$HIVEBAR_HOME"
  else
    case ${XDG_STATE_HOME-} in
      /*) set -- "$XDG_STATE_HOME/hivebar" ;;
      *) set -- "${HOME-}/.local/state/hivebar" ;;
    esac
    set -- "$@" "${HOME-}/Library/Application Support/hivebar" "${LOCALAPPDATA:-${HOME-}/AppData/Local}/hivebar"
  fi
  for state in "$@"; do
    script=$state/hook/hivebar-hook
    if [ -f "$script" ] && [ -x "$script" ]; then return 0; fi
  done
  return 1
}

# This command writes the script. What it prints is for settings.
write_script() {
  case $event in SessionStart | UserPromptSubmit) ;; *) return 1 ;; esac
  command -v hivebar >/dev/null 2>&1 && hivebar hook print claude </dev/null >/dev/null 2>&1
}

# `hivebar hook status` runs it so, to see whether it works.
if [ -z "${HIVEBAR_HOOK_PROBE-}" ]; then
  if is_foreign || is_in_settings; then leave; fi
fi
find_script || { write_script && find_script; } || leave
exec "$script" "$harness" "$event"
