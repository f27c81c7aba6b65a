/**
 * The launcher: a POSIX `sh` script that outlives the daemon beside its agent and writes how the agent ended
 * (architecture §5). It is handed to `sh -c` as text, so a bundle needs no file beside it. The user's argv is passed
 * as positional parameters and never becomes shell text.
 *
 * All that happens before the agent runs is builtin (no PATH, no process but the agent): `claimed` is made with
 * noclobber, which is O_EXCL, so that exactly one of the launcher and a reconcile wins it.
 */
import type { StdinPlan } from "../adapter.ts";
import { readProc } from "./identity.ts";
import { type LifelineArguments, NO_LIFELINE } from "./lifeline.ts";
import { MARKER } from "./marker.ts";
import { LINGER } from "./reaper.ts";
import { SUPERVISOR_DIED, TAKEN_OVER } from "./run-directory.ts";

/** The path of the shell: every POSIX system has it here. */
export const SHELL = "/bin/sh";

/**
 * $1 the run directory, $2 the stdin plan's kind, $3 the agent's umask, $4 the run's cgroup (empty: none), $5 to $8 the lifeline's script (empty: none) and what
 * it is told, $9 the perl that has made it a sub-reaper (empty: none), then the agent's argv.
 *
 * - The traps keep the launcher alive through signals to the group; a subshell starts with default actions.
 * - `claimed`, `pid` and `pump` each hold "PID START_TIME" of the process that wrote them, read from its own
 *   /proc/self/stat: an identity that cannot be of a recycled pid.
 * - Its own stderr is /dev/null: a shell reports signalled children there, and the agent's stderr holds only the agent's.
 * - The EXIT trap of the subshell runs only when exec failed (bash needs execfail for it).
 * - A lifeline that is at work goes on after the agent's end: what else the run has is its to end.
 * - Its helpers are dead before the exit is there, so that no sweep finds one dying. The status is written before they are waited for.
 * - Descriptors that somebody has left open are closed: all of them by the perl before it, those that a shell can name here.
 * - If the agent has left children (the kernel lists a sub-reaper's with its own), it becomes a perl that stays until they are gone.
 *   Nothing that the agent's environment has for perl gets there.
 * - If another daemon has taken the run over, it stays for that one's sweep even without children: only its parent learns how it ended.
 * - The exit is one write of a whole line, which its readers ask for. It is renamed into its place where it was written before something that had to
 *   be waited for, and where something else lies there: the launcher becomes `mv` for that, and has no child that a kill of the group's
 *   members could hit.
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
set -C
_hf_self >"$_hf_dir/claimed" || exit 125
set +C
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
  _hf_self >"$_hf_dir/pid"
  umask "$_hf_umask"
  exec "$@"
) 2>&3 3>&-
_hf_status=$?
[ -z "$_hf_pump" ] || kill -9 "$_hf_pump"
[ -z "$_hf_helper" ] || [ -e "$_hf_dir/${SUPERVISOR_DIED}" ] || kill -9 "$_hf_helper"
_hf_tell() { printf '%s\n' "$_hf_status" >"$_hf_dir/$1" || exit "$_hf_status"; }
_hf_out=exit
if [ -n "$_hf_pump$_hf_helper" ] || [ -e "$_hf_dir/exit" ] || [ -h "$_hf_dir/exit" ]; then
  _hf_out=exit.tmp
  _hf_tell exit.tmp
fi
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
  _hf_tell exit.tmp
  exec env -i "${MARKER}=$${MARKER}" LC_ALL=C "$_hf_perl" -e '${LINGER}' "$_hf_dir/exit" "$_hf_stays"
fi
_hf_tell "$_hf_out"
[ "$_hf_out" = exit ] || exec mv -f "$_hf_dir/exit.tmp" "$_hf_dir/exit"
`;

/** Signals that the launcher traps: these may go to the whole group, every other one goes by pid. */
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

/** Place of `perl` in a launcher's command line. */
const PERL_AT = ["sh", "-c", "script", "name", "dir", "stdin", "umask", "cgroup"].length + NO_LIFELINE.length;

/** Arguments of SHELL for one run. `umask` is octal. */
export const launcherArguments = (
  dir: string,
  stdin: StdinPlan["kind"],
  umask: string,
  argv: readonly string[],
  { cgroup = "", lifeline = NO_LIFELINE, perl = "" }: LauncherExtras = {},
): string[] => ["-c", LAUNCHER_SCRIPT, "holdfast", dir, stdin, umask, cgroup, ...lifeline, perl, ...argv];

/** The launcher's own command line says it, which nobody else can write: its perl is there, or it has become that perl. */
export const isSubReaper = ({ pid }: { readonly pid: number }): boolean => {
  const cmdline = readProc(`/proc/${pid}/cmdline`);
  if (typeof cmdline === "string") return false;
  const words = cmdline.toString("latin1").split("\0");
  return words.includes(LINGER) || (words[2] === LAUNCHER_SCRIPT && words[PERL_AT] !== "");
};

/** How /proc/PID/cmdline of a launcher starts, and of its agent's process as long as it has not called exec. */
export const LAUNCHER_CMDLINE = Buffer.from(`${SHELL}\0-c\0${LAUNCHER_SCRIPT.slice(0, 64)}`);
