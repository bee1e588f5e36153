/** Characters of session ids, one by one, since `[a-z]` includes capitals in some locales. */
export const SESSION = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-';

/** How long a waiter sleeps at most before it asks again, in seconds. */
const MOST_S = 60;

/**
 * The part of the hook script that waits for mail (`hivebar-hook claude Wait [PERSONA]`). Claude Code runs it behind the turn, and
 * begins a turn when it ends with 2 (asyncRewake). Our plugin does the same in OpenCode, and names the session in HIVEBAR_SESSION. At
 * rest it is a shell that reads from a named pipe, and costs nothing.
 *
 * - A ring has no content. After each the waiter looks: the stamp says without a program that nothing waits, else the program
 *   decides. Whoever adds mail removes the stamp before it rings, and the look waits for its commit, so no ring is lost.
 * - The pipe is opened for reading and writing, so that it needs no writer and never ends. It is made anew for each look, which
 *   drops rings that the look answers anyway.
 * - `run/waiters/STEM/SESSION` holds the pid of the only waiter of the session that counts. A newer one writes its own and rings the
 *   others, which then leave. Nobody is ended by a pid, which may be another program's by now.
 * - A shell ends with 2 when a redirection fails. So only `woken` makes the end a 2.
 *
 * @param plain the characters of a persona's name that is also the stem of its files
 */
export const createWaiterPart = (plain: string): string => `
# Waits until something waits for an idle agent, and then ends with 2 and says so, which wakes it.
wait_for_mail() {
  woken=
  bell=
  trap 'code=0; [ -z "$woken" ] || code=2; [ -z "$bell" ] || rm -f "$bell"; exit "$code"' 0
  trap 'exit 0' 1 2 15
  /bin/cat >/dev/null 2>&1
  exec </dev/null
  case $harness in
    claude)
      # Other programs read the settings of Claude Code too, and would wait for our end. So would claude -p.
      case \${AI_AGENT-} in claude-code*) ;; *) exit 0 ;; esac
      case \${CLAUDE_CODE_ENTRYPOINT-} in sdk-*) exit 0 ;; esac
      session=\${CLAUDE_CODE_SESSION_ID-}
      ;;
    opencode) session=\${HIVEBAR_SESSION-} ;;
    *) exit 0 ;;
  esac
  case $session in '' | *[!${SESSION}]*) exit 0 ;; esac
  umask 077
  # A prompt shows the same as a waiter: any item.
  moment=UserPromptSubmit
  room=
  case $owner in '' | *[!${plain}]* | *.) ;; *) room=$owner ;; esac
  while :; do
    if [ -n "$room" ]; then open_bell; fi
    kill -0 "$PPID" 2>/dev/null || exit 0
    look
    if [ "$room" != "$found" ]; then
      room=$found
      continue
    fi
    case $verdict in
      wake)
        printf '%s\\n' "$words" >&2
        woken=yes
        exit
        ;;
      later) sleep "$words" ;;
      *)
        IFS= read -r line <&3 || exit 0
        # A storm of mail to an agent at work starts one program a second.
        [ "$verdict" != busy ] || sleep 1
        ;;
    esac
  done
}

# A new pipe, and with it this waiter counts for its session. Without a pipe, or when a newer one counts, it leaves.
open_bell() {
  new=$state/run/waiters/$room/$session.$$
  if [ "$bell" != "$new" ]; then
    [ -z "$bell" ] || rm -f "$bell"
    bell=$new
    note=$state/run/waiters/$room/$session
    mkdir -p "$state/run/waiters/$room" || exit 0
    make_bell
    echo $$ >"$note.new.$$" && mv -f "$note.new.$$" "$note" || exit 0
    for other in "$note".*; do
      case $other in "$bell") continue ;; esac
      if [ ! -p "$other" ]; then continue; fi
      if kill -0 "\${other##*.}" 2>/dev/null; then echo 1<>"$other"; else rm -f "$other"; fi
    done
  else
    make_bell
  fi
  counts=
  { IFS= read -r counts <"$note"; } 2>/dev/null
  [ "$counts" = "$$" ] || exit 0
}

make_bell() {
  rm -f "$bell"
  mkfifo "$bell" 2>/dev/null || exit 0
  exec 3<>"$bell"
}

# What to do now, in $verdict, $found and $words.
look() {
  verdict=wait
  found=
  words=
  if [ -n "$owner" ]; then
    case $owner in
      *[!${plain}]* | *.)
        for stamp in "$state"/run/pending/*~??????; do
          if is_quiet; then found=\${stamp##*/}; fi
        done
        ;;
      *)
        stamp=$state/run/pending/$owner
        if is_quiet; then found=$owner; fi
        ;;
    esac
  fi
  [ -z "$found" ] || return 0
  answer=$(exec 3<&-; ask 2>/dev/null)
  IFS=' ' read -r verdict found words <<END
$answer
END
  case $verdict in
    wake | wait | busy) ;;
    later) case $words in [1-9] | [1-5][0-9]) ;; *) words=${MOST_S} ;; esac ;;
    *) exit 0 ;;
  esac
  case $found in '' | */* | .*) exit 0 ;; esac
}
`;
