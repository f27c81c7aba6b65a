/**
 * The guard as a perl program (docs/decisions/0081). It outlives the daemon, so that runs end with the lease of their node
 * whatever stands still.
 */
import { constants as files } from "node:fs";
import { constants as system } from "node:os";
import { LINGER } from "../../adapters/process/reaper.ts";
import { LEASE_LOST } from "../../adapters/process/run-directory.ts";
import { CLOSE_RANGE, type SystemCallNumbers } from "../../adapters/process/system-calls.ts";
import {
  CLUSTER_GUARD_GRACE_MS,
  CLUSTER_GUARD_IDLE_SEARCH_MS,
  CLUSTER_GUARD_PASSES_MAX,
  CLUSTER_GUARD_PERIOD_MS,
  CLUSTER_GUARD_QUIET_SEARCHES,
  CLUSTER_GUARD_SEARCH_MS,
  CLUSTER_STOP_ROOM_MS,
  ENVIRONMENT_READ_MAX_BYTES,
} from "../../base/limits.ts";
import { clusterGuardFile, clusterLeaseFile, daemonFilePath } from "../paths.ts";

const { ENOENT, ENOTDIR, ELOOP, ENXIO, EMFILE, ENFILE, ENOMEM } = system.errno;
const SAFE = files.O_NOFOLLOW | files.O_NONBLOCK;
const LOCK_FILE = files.O_RDWR | files.O_CREAT | SAFE;
const APPEND_FILE = files.O_WRONLY | files.O_APPEND | files.O_CREAT | SAFE;
/** LOCK_EX | LOCK_NB. */
const TRY_LOCK = 2 | 4;

/**
 * - A lease is over from `ending` on: `room` ms before its end, or at once if it is none of this node and boot.
 * - A changed lease counts once two reads agree, because a full disk makes the daemon write over the file.
 * - A file that cannot be read for another reason than its absence leaves the last lease, which ends by the clock.
 * - A search that lacks descriptors or memory has found nothing out, so another follows.
 * - `$over` is the moment at which the runs had to begin to stop, so a guard that stood still kills at once.
 * - A process gets TERM once. KILL is repeated until a search finds nothing.
 * - A process whose first thread has ended is `shown` as another thread, which goes on.
 * - The launcher is spared, because it writes the exit. Nothing above it in the process table has the marker of its run. A
 *   process that imitates a launcher is below the real one, and is not spared. A launcher that has not begun its agent when
 *   the others are killed is killed too, because nobody else would stop that agent in time.
 * - A lifeline helper ignores TERM. Its launcher kills it after the agent, so here it comes last.
 * - A monitor that gets TERM leaves its agent running, so the others get it first.
 * - Launchers of other runs, and the daemon, may be below a run whose agent started that daemon. They are apart from it.
 */
const code = (calls: SystemCallNumbers): string => String.raw`# holdfast guard
my ($lease, $file, $daemon_file, $node, $store, $room, $grace, $period, $search, $idle, $linger) = @ARGV;
$SIG{$_} = "IGNORE" for qw(HUP INT QUIT ALRM TERM USR1 USR2 PIPE);
if (syscall(${CLOSE_RANGE}, 3, 4294967295, 0) != 0) {
  opendir(my $fds, "/proc/self/fd");
  syscall(${calls.close}, $_ + 0) for grep { /^\d+$/ && $_ > 2 } readdir($fds);
}
umask 077;
my ($bytes, $blind, $held, $known, $over, %told) = ("", 0);
sub is_short { $blind ||= $! == ${EMFILE} || $! == ${ENFILE} || $! == ${ENOMEM}; 0 }
sub slurp {
  sysopen(my $in, $_[0], ${SAFE}) or return is_short();
  defined(sysread($in, $bytes, ${ENVIRONMENT_READ_MAX_BYTES})) or return is_short();
  1;
}
sub other_thread {
  my ($pid) = @_;
  opendir(my $tasks, "/proc/$pid/task") or return is_short();
  for (grep { /^\d+$/ && $_ != $pid } readdir($tasks)) {
    return "$pid/task/$_" if slurp("/proc/$pid/task/$_/stat") && $bytes =~ /.*\) [^ZXx]/s;
  }
  0;
}
sub stat_of {
  slurp("/proc/$_[0]/stat") && $bytes =~ /.*\) (.*)/s or return;
  my @field = split(/ /, $1);
  my $shown = $field[0] =~ /[ZXx]/ ? other_thread($_[0]) : $_[0] or return;
  { pid => $_[0], shown => $shown, ppid => $field[1], session => $field[3], start => $field[19] };
}
open(my $uptime, "<", "/proc/uptime") or exit 1;
sub now { sysseek($uptime, 0, 0); sysread($uptime, $bytes, 64); 1000 * (split(/ /, $bytes))[0] }
slurp("/proc/sys/kernel/random/boot_id") or exit 1;
my $boot = (split(/\n/, $bytes))[0];
my $self = stat_of($$) or exit 1;

sub is_held {
  my @ours = stat($held) or return 0;
  my @there = lstat($file);
  @there && $ours[0] == $there[0] && $ours[1] == $there[1];
}
sub hold {
  for (1 .. 9) {
    return if $held && is_held();
    sysopen(my $lock, $file, ${LOCK_FILE}, 0600) or return $held || exit 1;
    flock($lock, ${TRY_LOCK}) or exit 0;
    $held = $lock;
    next unless is_held();
    truncate($held, 0);
    syswrite($held, "$$ $self->{start}\n");
  }
}
sub lease {
  for (1 .. 9) {
    my $was = $known;
    if (sysopen(my $in, $lease, ${SAFE})) { $known = sysread($in, $bytes, 4096) ? $bytes : "" }
    elsif ($! == ${ENOENT} || $! == ${ENOTDIR}) { $known = undef }
    elsif ($! == ${ELOOP} || $! == ${ENXIO}) { $known = "" }
    last if ($was // "gone") eq ($known // "gone");
  }
  $known;
}
sub ending {
  my ($of, $until, $in) = ($_[0] // "") =~ /\A(.+) (\d{1,15}) (\S+)\n\z/ or return;
  $of eq $node && $in eq $boot ? $until - $room : undef;
}

sub words { slurp("/proc/$_[0]/cmdline") ? split(/\0/, $bytes) : () }
sub run_of {
  my ($one) = @_;
  slurp("/proc/$one->{shown}/environ") && index($bytes, "HOLDFAST_RUN=$store/") >= 0 or return;
  ($one->{run}) = $bytes =~ /(?:\A|\0)HOLDFAST_RUN=(\Q$store\E\/[^\0]*)/ or return;
  $one->{placed} = $bytes =~ /(?:\A|\0)HOLDFAST_PLACED=\Q$node\E\/[^\0]*\/stop(?:\0|\z)/;
  my @word = words($one->{pid});
  my $script = ($word[1] // "") eq "-c" ? $word[2] // "" : "";
  $one->{helper} = $script =~ /\A# holdfast lifeline\n/;
  return unless $one->{pid} == $one->{session};
  ($one->{dir}, $one->{cgroup}) = @word[4, 7] if $script =~ /\A# holdfast launcher\n/;
  # A launcher that lingers, and one that has become the rename of its exit file.
  my ($second, $exit) = ($word[2] // "", $word[3] // "");
  ($one->{dir}) = $exit =~ /(.*)\/exit\z/s if $second eq $linger || ($word[1] // "") eq "-f" && $second eq "$exit.tmp";
}
sub daemon {
  slurp($daemon_file) && $bytes =~ /"identity":\{"pid":(\d+),"start_time":"(\d+)"/ ? "$1 $2" : "";
}
sub daemon_lives {
  my ($pid, $start) = split(/ /, daemon()) or return 0;
  my $one = stat_of($pid);
  $one && $one->{start} eq $start;
}
sub find {
  my (%all, %runs, %below, %inside, @queue);
  opendir(my $proc, "/proc") or return ({}, {}, is_short());
  for (grep { /^\d+$/ && $_ != $$ } readdir($proc)) {
    my $one = $all{$_} = stat_of($_) or next;
    run_of($one);
    $runs{$one->{run}} = 1 if $one->{placed};
  }
  return ({}, {}) unless %runs;
  my @all = grep { $_ } values(%all);
  push(@{$below{$_->{ppid}}}, $_) for @all;
  push(@{$inside{$_->{session}}}, $_) for @all;
  my ($daemon, %member, %launcher) = daemon();
  my $take = sub {
    my ($one, $run) = @_;
    return if $member{$one->{pid}} || !$one->{run} && "$one->{pid} $one->{start}" eq $daemon;
    return if defined $one->{dir} && $one->{run} ne $run;
    $member{$one->{pid}} = { %$one, run => $run };
    push(@queue, $one->{pid});
  };
  for my $one (grep { $_->{run} && $runs{$_->{run}} } @all) {
    if (!defined $one->{dir}) { $take->($one, $one->{run}); next }
    $launcher{$one->{pid}} = $one;
    my @more = length($one->{cgroup} // "") && slurp("$one->{cgroup}/cgroup.procs") ? split(/\n/, $bytes) : ();
    $_ && $_->{pid} != $one->{pid} && $take->($_, $one->{run})
      for @{$below{$one->{pid}}}, @{$inside{$one->{pid}}}, map { $all{$_} } @more;
  }
  while (defined(my $pid = pop @queue)) { $take->($_, $member{$pid}{run}) for @{$below{$pid}} }
  delete $launcher{$_} for keys %member;
  (\%member, \%launcher);
}

sub send_signal {
  my ($name, $one) = @_;
  my $seen = stat_of($one->{pid});
  $seen && $seen->{start} eq $one->{start} && kill($name, $one->{pid});
}
sub note {
  my ($name, $dir) = @_;
  return if !defined $dir || $told{"$dir $name"}++;
  sysopen(my $mark, "$dir/${LEASE_LOST}", ${APPEND_FILE}, 0600);
  sysopen(my $out, "$dir/signals", ${APPEND_FILE}, 0600) or return;
  syswrite($out, "SIG$name\n") if -f $out;
}
sub monitor { slurp("$_[0]/run.json") && $bytes =~ /"is_monitor":true/ && slurp("$_[0]/pid") ? (split(/ /, $bytes))[0] : 0 }
sub end_runs {
  my ($kill) = @_;
  $blind = 0;
  my ($member, $launcher) = find();
  my ($sent, %of) = $blind;
  push(@{$of{$_->{run}}[$_->{helper} ? 1 : 0]}, $_) for values(%$member);
  my %dir = map { $_->{run} => $_->{dir} } values(%$launcher);
  for my $run (keys %of) {
    my @agents = @{$of{$run}[0] // []};
    my $monitor = !$kill && @agents > 1 && defined $dir{$run} ? monitor($dir{$run}) : 0;
    note($kill ? "KILL" : "TERM", $dir{$run}) if @agents;
    for my $one (@agents ? @agents : @{$of{$run}[1]}) {
      if ($kill) { $sent += send_signal("KILL", $one); next }
      next if $one->{pid} == $monitor;
      $sent += $told{"$one->{pid} $one->{start}"}++ || send_signal("TERM", $one);
      send_signal("CONT", $one);
    }
  }
  for my $one (values %$launcher) {
    send_signal("CONT", $one);
    next if !$kill || $of{$one->{run}} || $one->{dir} eq "" || !defined $one->{cgroup} || -s "$one->{dir}/pid";
    $sent += send_signal("KILL", $one) if $told{"launcher $one->{pid} $one->{start}"}++;
  }
  $sent;
}

my ($next, $quiet) = (0, 0);
for (;; select(undef, undef, undef, $period / 1000)) {
  hold();
  my $text = lease();
  my ($now, $end) = (now(), ending($text));
  if (defined $end && $now < $end) {
    ($over, $next, $quiet, %told) = (undef, 0, 0);
    next;
  }
  $over //= $end // $now;
  next if $now < $next;
  my $kill = $now >= $over + $grace;
  my $found = end_runs($kill);
  for (my $pass = 1; $kill && $found && $pass < ${CLUSTER_GUARD_PASSES_MAX} && end_runs(1); $pass += 1) {
    select(undef, undef, undef, 0.005);
  }
  $quiet = $found ? 0 : $quiet + 1;
  $next = now() + ($quiet < ${CLUSTER_GUARD_QUIET_SEARCHES} ? $search : $idle);
  next if $quiet < 2 || defined $text && ($quiet < ${CLUSTER_GUARD_QUIET_SEARCHES} || daemon_lives());
  unlink($file) if is_held();
  exit 0;
}
`;

/** The words after the program of perl. Another guard than the one that they describe is not this node's. */
export const guardArguments = (
  calls: SystemCallNumbers,
  {
    stateDir,
    store_id,
    node,
  }: { readonly stateDir: string; readonly store_id: string; readonly node: string },
): readonly string[] => [
  "-e",
  code(calls),
  clusterLeaseFile(stateDir),
  clusterGuardFile(stateDir),
  daemonFilePath(stateDir),
  node,
  store_id,
  ...[
    CLUSTER_STOP_ROOM_MS,
    CLUSTER_GUARD_GRACE_MS,
    CLUSTER_GUARD_PERIOD_MS,
    CLUSTER_GUARD_SEARCH_MS,
    CLUSTER_GUARD_IDLE_SEARCH_MS,
  ].map(String),
  LINGER,
];
