/**
 * The watchdog as a small perl process beside the daemon, if the machine has perl, because a thread of Node
 * is a second V8 with 10 MB. The daemon writes a line to its stdin at each beat. When the daemon ends, its
 * stdin ends, and so does the watchdog.
 */
import { spawn } from "node:child_process";
import { BEAT_PERIOD_MS, WATCHDOG_UNREAD_MAX_BYTES } from "../base/limits.ts";
import type { LoopWatcher, WatchdogData } from "./loop-watcher.ts";

/**
 * A line of stdin: the wall clock in ms, ms since the supervisor's tick, the descriptor of the log, and the
 * loop's facts as JSON. The log is opened through the daemon's descriptor, which changes when the file is
 * made again. /proc/uptime has steps of 10 ms. If two checks of this process are more than $late apart, no
 * process could run. A daemon that is stopped (T) is not blocked.
 */
const CODE = String.raw`# holdfast watchdog
my ($daemon, $file, $period, $late, $tick_late) = @ARGV;
$SIG{$_} = "IGNORE" for qw(INT TERM HUP PIPE);
sub now { open(my $up, "<", "/proc/uptime") or exit 1; return 1000 * (split(/ /, <$up>))[0] }
sub state_of { open(my $stat, "<", "/proc/$daemon/stat") or return ""; return (<$stat> =~ /.*\) (.)/s)[0] }
sub memory { open(my $status, "<", "/proc/$daemon/status") or return 0; return 1024 * (join("", <$status>) =~ /VmRSS:\s*(\d+)/)[0] }
my ($unread, $wall, $tick, $fd, $facts) = ("", 1000 * time(), 0, 2, "null");
my ($since, $beat, $look) = (undef, now(), now());
sub stamp {
  my ($ms) = @_;
  my @t = gmtime(int($ms / 1000));
  sprintf("%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", $t[5] + 1900, $t[4] + 1, @t[3, 2, 1, 0], $ms % 1000);
}
sub tell_log {
  my ($level, $message, $more) = @_;
  my $at = stamp($wall + now() - $beat);
  my $log;
  open($log, ">>", "/proc/$daemon/fd/$fd") or $log = \*STDERR;
  syswrite($log, qq({"ts":"$at","level":"$level","message":"$message",$more}\n));
}
sub write_file {
  my ($text) = @_;
  unlink("$file.new");
  sysopen(my $out, "$file.new", 0301, 0600) or return;
  syswrite($out, $text) == length $text ? rename("$file.new", $file) : unlink("$file.new");
}
for (;;) {
  my $ready = "";
  vec($ready, 0, 1) = 1;
  my $wait = defined $since ? $period : $late;
  if (select($ready, undef, undef, $wait / 1000) > 0) {
    sysread(STDIN, $unread, 65536, length $unread) or exit 0;
    my $end = rindex($unread, "\n");
    if ($end >= 0) {
      ($wall, $tick, $fd, $facts) = split(/ /, (split(/\n/, substr($unread, 0, $end)))[-1], 4);
      $unread = substr($unread, $end + 1);
      $beat = now();
    }
  }
  my $now = now();
  $beat = $now if $now - $look > 2 * $late;
  $look = $now;
  my $what = $now - $beat >= $late ? "loop" : $tick + $now - $beat > $tick_late ? "tick" : "";
  my $state = $what eq "" ? "" : state_of();
  if ($state =~ /t/i) {
    $beat = $now;
    $what = "";
  }
  if ($what eq "") {
    next unless defined $since;
    unlink($file);
    tell_log("warn", "the daemon's loop runs again", qq("since":"$since"));
    $since = undef;
    next;
  }
  if (!defined $since) {
    my $blocked = int($now - $beat + ($what eq "tick" ? $tick : 0));
    $since = stamp($wall + $now - $beat - $blocked);
    my $message = $what eq "loop" ? "the event loop is blocked" : "the supervisor's tick has stopped";
    tell_log("error", $message, qq("blocked_ms":$blocked,"main_thread":"$state","memory":) . memory() . qq(,"before":$facts));
  }
  write_file(qq({"pid":$daemon,"what":"$what","since":"$since"}\n));
}
`;

/** `onLoss` is called once if the process cannot be started, or ends without being told to. */
export const watchByProcess = (
  perl: string,
  { pid, file }: Pick<WatchdogData, "pid" | "file">,
  late: { readonly loop_ms: number; readonly tick_ms: number },
  onLoss: (cause: unknown) => void,
): LoopWatcher => {
  const args = [pid, file, BEAT_PERIOD_MS, late.loop_ms, late.tick_ms].map(String);
  const child = spawn(perl, ["-e", CODE, ...args], {
    cwd: "/",
    env: { LC_ALL: "C" },
    detached: true,
    stdio: ["pipe", "ignore", "inherit"],
  });
  let isOver = false;
  const lost = (cause: unknown): void => {
    if (isOver) return;
    isOver = true;
    onLoss(cause);
  };
  child.on("error", lost);
  child.on("exit", (code, signal) => lost(new Error(`The watchdog has ended with ${signal ?? code}.`)));
  const stdin = child.stdin!;
  stdin.on("error", () => undefined);
  child.unref();
  (stdin as unknown as { unref(): void }).unref();
  return {
    beat: ({ wall_ms, tick_age_ms, log_fd, facts }) => {
      // A stopped watchdog does not read its input.
      if (isOver || stdin.writableLength > WATCHDOG_UNREAD_MAX_BYTES) return;
      stdin.write(`${wall_ms} ${tick_age_ms} ${log_fd} ${facts}\n`);
    },
    end: () => {
      isOver = true;
      child.kill("SIGKILL");
    },
  };
};
