/**
 * The launcher: a POSIX `sh` script beside the agent that outlives the daemon and writes how the agent ended
 * (architecture §5). `sh -c` gets it as text, so that a bundle needs no extra file. The user's argv is passed
 * as positional parameters and never becomes shell text.
 *
 * Everything before the agent uses only builtins (no PATH, no process except the agent). `claimed` is made
 * with O_EXCL, so that either the launcher or a reconcile claims the run, never both: by the fork server's child
 * that becomes the launcher, or, without that server, by the script with noclobber.
 */
import type { StdinPlan } from "../adapter.ts";
import { readProc } from "./identity.ts";
import { type LifelineArguments, NO_LIFELINE } from "./lifeline.ts";
import { MARKER } from "./marker.ts";
import { PLACED_MARKER } from "./placed-marker.ts";
import { LINGER } from "./reaper.ts";
import { SUPERVISOR_DIED, TAKEN_OVER } from "./run-directory.ts";

/** Every POSIX system has the shell at this path. */
export const SHELL = "/bin/sh";

/** The guard of a lease knows the run by it when its launcher has become the perl. */
const KEEP_PLACED = `\${${PLACED_MARKER}:+"${PLACED_MARKER}=$${PLACED_MARKER}"}`;

/**
 * $1 the run directory, $2 the kind of the stdin plan, $3 the agent's umask, $4 the run's cgroup (empty:
 * none), $5 to $8 the lifeline's script (empty: none) and its arguments, $9 the perl that has made it a
 * sub-reaper (empty: none), then the agent's argv.
 *
 * - The traps keep the launcher alive when a signal goes to the group. A subshell starts with default
 *   actions.
 * - `claimed`, `pid` and `pump` each hold "PID START_TIME" of the process that wrote them, read from its own
 *   /proc/self/stat, so that a recycled pid is recognised.
 * - Its own stderr is /dev/null, because a shell reports signalled children there. The agent's stderr has
 *   only the agent's output.
 * - The EXIT trap of the subshell runs only if exec failed (bash needs execfail for that).
 * - A lifeline that has begun to end the run continues after the agent's end, because other processes may be
 *   left.
 * - Its helpers are dead before the exit file exists, so that no sweep finds one dying. The status is written
 *   before the launcher waits for them.
 * - Inherited descriptors are closed: all of them by the perl before it, and here those that a shell can
 *   name.
 * - If the agent has left children (the kernel lists a sub-reaper's with its own), the launcher becomes a
 *   perl that stays until they are gone. That perl gets none of the agent's perl variables.
 * - If another daemon has taken the run over, the launcher waits for that daemon's sweep even without
 *   children, because only its parent learns how it ended.
 * - `pid` and `exit` may be there, empty: a start makes no new file then. Nothing else is in them.
 * - The exit is one write of a whole line, and readers accept only a whole line. It is written to another
 *   file and renamed if the launcher must first wait, or if something else has the name `exit`. The launcher
 *   becomes `mv` for that, so that it has no child that a kill of the group's members could hit.
 */
const LAUNCHER_SCRIPT = String.raw`# holdfast launcher
_hf_dir=$1 _hf_stdin=$2 _hf_umask=$3 _hf_cgroup=$4
_hf_lifeline=$5 _hf_fifo=$6 _hf_renew=$7 _hf_grace=$8 _hf_perl=$9 _hf_pump= _hf_helper=
shift 9
exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
trap : HUP INT QUIT ALRM TERM USR1 USR2
exec 3>&2 2>/dev/null
umask 077
_hf_self() {
  read -r _hf_pid _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _hf_start _ </proc/self/stat
  printf '%s %s\n' "$_hf_pid" "$_hf_start"
}
if [ -z "$_hf_perl" ]; then
  set -C
  _hf_self >"$_hf_dir/claimed" || exit 125
  set +C
fi
if [ -n "$_hf_cgroup" ]; then
  echo 0 >"$_hf_cgroup/cgroup.procs" || { echo "sh: cgroup: cannot be entered" >&3; exit 125; }
fi
if [ "$_hf_stdin" = open ]; then
  (PATH=/usr/bin:/bin; exec mkfifo "$_hf_dir/stdin.fifo") || exit 125
  (
    trap '' HUP INT QUIT ALRM TERM USR1 USR2
    _hf_self >"$_hf_dir/pump"
    PATH=/usr/bin:/bin
    exec tail -c +1 -f "$_hf_dir/stdin" >"$_hf_dir/stdin.fifo" 3>&-
  ) &
  _hf_pump=$!
  exec <"$_hf_dir/stdin.fifo"
fi
if [ -n "$_hf_lifeline" ]; then
  exec /bin/sh -c "$_hf_lifeline" "holdfast lifeline" "$_hf_dir" "$_hf_fifo" "$_hf_renew" "$_hf_grace" "$$" >/dev/null 3>&- &
  _hf_helper=$!
fi
(
  [ -z "$BASH_VERSION" ] || shopt -s execfail
  trap 'umask 077; : >"$_hf_dir/exec_failed"' EXIT
  _hf_self >>"$_hf_dir/pid"
  umask "$_hf_umask"
  exec "$@"
) 2>&3 3>&-
_hf_status=$?
[ -z "$_hf_pump" ] || kill -9 "$_hf_pump"
[ -z "$_hf_helper" ] || [ -e "$_hf_dir/${SUPERVISOR_DIED}" ] || kill -9 "$_hf_helper"
_hf_tell() { printf '%s\n' "$_hf_status" >"$_hf_dir/exit.tmp" || exit "$_hf_status"; }
_hf_out=exit
[ ! -e "$_hf_dir/exit" ] || [ -f "$_hf_dir/exit" ] || _hf_out=exit.tmp
if [ -n "$_hf_pump$_hf_helper" ] || [ -s "$_hf_dir/exit" ] || [ -h "$_hf_dir/exit" ]; then _hf_out=exit.tmp; fi
[ "$_hf_out" = exit ] || _hf_tell
[ -z "$_hf_pump" ] || wait "$_hf_pump"
[ -z "$_hf_helper" ] || [ -e "$_hf_dir/${SUPERVISOR_DIED}" ] || wait "$_hf_helper"
_hf_left= _hf_stays=
if [ -n "$_hf_perl" ]; then
  read -r _hf_left <"/proc/self/task/$$/children"
  [ ! -e "$_hf_dir/${TAKEN_OVER}" ] || _hf_stays=1
fi
PATH=/usr/bin:/bin LC_ALL=C
export LC_ALL
if [ -n "$_hf_left$_hf_stays" ]; then
  _hf_tell
  exec env -i "${MARKER}=$${MARKER}" ${KEEP_PLACED} LC_ALL=C "$_hf_perl" -e '${LINGER}' "$_hf_dir/exit" "$_hf_stays"
fi
if [ "$_hf_out" = exit ] && printf '%s\n' "$_hf_status" >>"$_hf_dir/exit"; then exit 0; fi
_hf_tell
exec mv -f "$_hf_dir/exit.tmp" "$_hf_dir/exit"
`;

/** Signals that the launcher traps. Only these may go to the whole group; all others go by pid. */
export const GROUP_SIGNALS: ReadonlySet<string> = new Set([
  "SIGHUP",
  "SIGINT",
  "SIGQUIT",
  "SIGALRM",
  "SIGTERM",
  "SIGUSR1",
  "SIGUSR2",
  "SIGCONT",
]);

interface LauncherExtras {
  readonly cgroup?: string | undefined;
  readonly lifeline?: LifelineArguments;
  readonly perl?: string | undefined;
}

/** The place of `perl` in a launcher's command line. */
const PERL_AT = ["sh", "-c", "script", "name", "dir", "stdin", "umask", "cgroup"].length + NO_LIFELINE.length;

/** Arguments of SHELL for one run. `umask` is octal. */
export const launcherArguments = (
  dir: string,
  stdin: StdinPlan["kind"],
  umask: string,
  argv: readonly string[],
  { cgroup = "", lifeline = NO_LIFELINE, perl = "" }: LauncherExtras = {},
): string[] => ["-c", LAUNCHER_SCRIPT, "holdfast", dir, stdin, umask, cgroup, ...lifeline, perl, ...argv];

/**
 * Whether a launcher is a sub-reaper, by its own command line, which no other process can write: it has a
 * perl as an argument, or has become that perl.
 */
export const isSubReaper = ({ pid }: { readonly pid: number }): boolean => {
  const cmdline = readProc(`/proc/${pid}/cmdline`);
  if (typeof cmdline === "string") return false;
  const words = cmdline.toString("latin1").split("\0");
  return words.includes(LINGER) || (words[2] === LAUNCHER_SCRIPT && words[PERL_AT] !== "");
};

/** The beginning of /proc/PID/cmdline of a launcher, and of its agent before exec. */
export const LAUNCHER_CMDLINE = Buffer.from(`${SHELL}\0-c\0${LAUNCHER_SCRIPT.slice(0, 64)}`);
