/**
 * Ends a run when its daemon dies, if the run asks for that (architecture §5). The daemon holds one FIFO open
 * for all such runs, and a helper in each run reads it. EOF means that the daemon died, however it died,
 * without signals, timers or pids. If the next daemon opens the FIFO in time, the run continues undisturbed.
 */
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { crashPoint } from "../../base/crash-point.ts";
import { statRegular } from "../../base/files/regular-file.ts";
import { replaceFile } from "../../base/files/replace-file.ts";
import { LIFELINE_RENEW_MS } from "../../base/limits.ts";
import { FILE_MODE, SUPERVISOR_DIED } from "./run-directory.ts";

/**
 * $1 the run directory, $2 the FIFO, $3 seconds to wait for a next daemon, $4 seconds between TERM and KILL,
 * $5 the launcher. It is a process of its own (not a subshell of the launcher), so that `ps` shows its
 * purpose.
 *
 * - Opening a FIFO for reading waits for a writer, so the script first opens it for both. A daemon that is
 *   already dead is then EOF.
 * - Without a daemon `read` returns at once; with one it waits. Each daemon writes a new id to the file
 *   beside the FIFO before it opens the FIFO, so a changed id shows that another daemon was there, and the
 *   seconds start again.
 * - On a full disk a failed redirection ends the shell for a special builtin (`:`), but not for `true` or
 *   `echo`.
 * - The group is ours as long as this helper is in it. The marker is checked again right before each KILL,
 *   because the pid may have been reused. The launcher is spared, because it must write the exit.
 */
const LIFELINE_SCRIPT = String.raw`# holdfast lifeline
trap '' HUP INT QUIT ALRM TERM USR1 USR2
_hf_dir=$1 _hf_fifo=$2 _hf_renew=$3 _hf_grace=$4 _hf_launcher=$5
PATH=/usr/bin:/bin LC_ALL=C
export PATH LC_ALL
exec 5<>"$_hf_fifo" 4<"$_hf_fifo" 5>&-
read -r _hf_held <"$_hf_fifo.holder"
_hf_gone=0
while read -r _ <&4 || :; do
  read -r _hf_now <"$_hf_fifo.holder"
  if [ "$_hf_now" = "$_hf_held" ]; then
    [ "$_hf_gone" -lt "$_hf_renew" ] || break
    _hf_gone=$((_hf_gone + 1))
    sleep 1
  else
    _hf_held=$_hf_now _hf_gone=0
  fi
done
true >"$_hf_dir/${SUPERVISOR_DIED}"
echo SIGTERM >>"$_hf_dir/signals"
kill -s TERM -- "-$_hf_launcher"
kill -s CONT -- "-$_hf_launcher"
while [ "$_hf_grace" -gt 0 ] && [ ! -s "$_hf_dir/exit" ]; do
  sleep 1
  _hf_grace=$((_hf_grace - 1))
done
[ -s "$_hf_dir/exit" ] || echo SIGKILL >>"$_hf_dir/signals"
_hf_kill() {
  for _hf_file in $(grep -l "$@" 2>/dev/null); do
    _hf_pid=\${_hf_file#/proc/} _hf_pid=\${_hf_pid%%/*}
    [ "$_hf_pid" != "$_hf_launcher" ] && [ "$_hf_pid" != "$$" ] || continue
    grep -q "$1" "$2" "$_hf_file" 2>/dev/null && kill -s KILL "$_hf_pid" && _hf_found=1
  done
}
for _ in 1 2 3 4 5 6 7 8 9; do
  _hf_found=
  _hf_kill -zxF "HOLDFAST_RUN=$HOLDFAST_RUN" /proc/[0-9]*/environ
  _hf_kill -zxF "HOLDFAST_RUN=$HOLDFAST_RUN" /proc/[0-9]*/task/[0-9]*/environ
  _hf_kill -E "^[0-9]+ \(.*\) [^Z] [0-9]+ $_hf_launcher " /proc/[0-9]*/stat
  _hf_kill -E "^[0-9]+ \(.*\) [^Z] [0-9]+ $_hf_launcher " /proc/[0-9]*/task/[0-9]*/stat
  [ -n "$_hf_found" ] || break
done
`.replaceAll("\\${", "${");

const seconds = (ms: number): string => String(Math.ceil(ms / 1_000));

/** The launcher's arguments for the lifeline. */
export type LifelineArguments = readonly [script: string, fifo: string, renew: string, grace: string];
/** The run outlives the daemon. */
export const NO_LIFELINE: LifelineArguments = ["", "", "", ""];

export const lifelineArguments = (
  lifeline: Lifeline,
  asked: { readonly grace_ms: number } | undefined,
): LifelineArguments =>
  asked === undefined
    ? NO_LIFELINE
    : [LIFELINE_SCRIPT, lifeline.path, seconds(lifeline.renewMs), seconds(asked.grace_ms)];

/** The daemon's side: one open FIFO for all runs that die with the daemon. */
export class Lifeline {
  readonly path: string;
  /** Milliseconds that a run waits for the next daemon. */
  readonly renewMs: number;
  /**
   * The newest last. A descriptor whose file was removed stays open, because runs that read it would take its
   * end for the daemon's death.
   */
  private readonly held: number[] = [];

  constructor(runsDir: string, renewMs = LIFELINE_RENEW_MS) {
    this.path = join(runsDir, "lifeline");
    this.renewMs = renewMs;
  }

  /** Opens the FIFO of an earlier daemon, whose runs may be counting the seconds. */
  renew(): void {
    if (existsSync(this.path)) this.hold();
  }

  /**
   * Called before the launch of a run that dies with this daemon. Afterwards the path is a FIFO and open,
   * whatever was there before.
   */
  hold(): void {
    const there = lstatSync(this.path, { throwIfNoEntry: false });
    const newest = this.held.at(-1);
    if (there?.isFIFO() && newest !== undefined && fstatSync(newest).ino === there.ino) return;
    if (there?.isFIFO() !== true) {
      rmSync(this.path, { recursive: true, force: true });
      execFileSync("mkfifo", ["-m", FILE_MODE.toString(8), this.path]);
    }
    const holder = `${this.path}.holder`;
    // An agent may have put a directory or a FIFO in place of one of these files.
    if (statRegular(holder) === undefined) rmSync(holder, { recursive: true, force: true });
    rmSync(`${holder}.new`, { recursive: true, force: true });
    replaceFile(
      holder,
      `${randomUUID()}
`,
    );
    crashPoint("lifeline-before-hold");
    this.held.push(openSync(this.path, constants.O_RDWR | constants.O_NONBLOCK | constants.O_NOFOLLOW));
  }

  close(): void {
    for (const fd of this.held.splice(0)) closeSync(fd);
  }
}

/** Opens the lifeline before the log, because reading the log may take longer than a run waits. */
export const heldLifeline = (runsDir: string, renewMs?: number): Lifeline => {
  const lifeline = new Lifeline(runsDir, renewMs);
  lifeline.renew();
  return lifeline;
};
