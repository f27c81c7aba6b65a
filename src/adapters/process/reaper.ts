/**
 * Perl parents that keep track of the processes that a program leaves. Each is a sub-reaper: it becomes the
 * parent of every process below it whose own parent has ended, however the process tries to hide
 * (docs/decisions/0032). One takes the place of a launcher whose agent has left processes, and one runs the
 * daemon's git commands. Every Debian has perl-base; without perl, or on an unknown processor, this is
 * skipped.
 */
import { accessSync, constants } from "node:fs";
import { LAUNCHER_LINGER_MS } from "../../base/limits.ts";
import { PR_SET_CHILD_SUBREAPER, type SystemCallNumbers, theCalls } from "./system-calls.ts";

const PERL = "/usr/bin/perl";

/**
 * Perl variables of the agent's environment would load code into this perl, so they have this prefix until
 * perl has begun.
 */
const SET_ASIDE = "HOLDFAST_AGENT_";

/** Restores the variables that `setAside` renamed. */
const GIVE_BACK = [
  "delete $ENV{PERL_BADLANG};",
  `/^${SET_ASIDE}(PERL.*)/s and $ENV{$1} = delete $ENV{$_} for keys %ENV;`,
].join(" ");

const asReaper = (prctl: number): string => `syscall(${prctl}, ${PR_SET_CHILD_SUBREAPER}, 1, 0, 0, 0);`;

/**
 * The end of a launcher whose agent has left processes: it writes the exit and stays their parent until the
 * sweep has ended them. $ARGV[0] is the exit file. If $ARGV[1] is set, it waits for the sweep even without
 * children.
 */
export const LINGER = [
  '$SIG{$_} = "IGNORE" for qw(HUP INT QUIT TERM USR1 USR2);',
  'rename("$ARGV[0].tmp", $ARGV[0]);',
  `alarm ${Math.ceil(LAUNCHER_LINGER_MS / 1_000)};`,
  "1 while wait != -1;",
  "sleep if $ARGV[1]",
].join(" ");

const END_ALL = "SIGUSR1";
const NOT_FOUND = 127;

/**
 * The parent of a program without a supervisor. It ends every process that the program leaves, and then exits
 * as the program did. It passes TERM on; END_ALL ends all processes below it.
 */
const keeping = (prctl: number): string =>
  [
    asReaper(prctl),
    GIVE_BACK,
    "my $main;",
    '$SIG{TERM} = sub { kill("TERM", $main) if $main };',
    'my $end = sub { open(my $all, "<", "/proc/thread-self/children") or return; kill("KILL", split(" ", <$all> // "")) };',
    `$SIG{${END_ALL.slice("SIG".length)}} = $end;`,
    "defined($main = fork) or exit 126;",
    `$main or exec { $ARGV[0] } @ARGV or exit ${NOT_FOUND};`,
    "my $status = 0;",
    "while ((my $ended = wait) != -1) { $status = $?; last if $ended == $main }",
    `alarm ${Math.ceil(LAUNCHER_LINGER_MS / 1_000)};`,
    "do { $end->() } while (wait != -1);",
    "my $signal = $status & 127 or exit($status >> 8);",
    `$SIG{TERM} = $SIG{${END_ALL.slice("SIG".length)}} = "DEFAULT";`,
    "kill($signal, $$);",
    "exit(128 + $signal)",
  ].join(" ");

export interface Reaper {
  readonly perl: string;
  readonly calls: SystemCallNumbers;
  readonly keeper: string;
}

let found: Reaper | null | undefined;

const look = (): Reaper | null => {
  const calls = theCalls();
  if (calls === undefined) return null;
  try {
    accessSync(PERL, constants.X_OK);
    return { perl: PERL, calls, keeper: keeping(calls.prctl) };
  } catch {
    return null;
  }
};

/** Undefined if this machine cannot have one. */
export const theReaper = (): Reaper | undefined => {
  if (found === undefined) found = look();
  return found ?? undefined;
};

export type ProcessEnvironment = Readonly<Record<string, string>>;

export interface ReaperCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: ProcessEnvironment;
}

/** Renames variables that would load code into perl, and silences perl's warning about an unknown locale. */
const setAside = (env: ProcessEnvironment): ProcessEnvironment => ({
  ...Object.fromEntries(
    Object.entries(env).map(([name, value]) => [
      name.startsWith("PERL") ? `${SET_ASIDE}${name}` : name,
      value,
    ]),
  ),
  PERL_BADLANG: "0",
});

export interface KeptCommand extends ReaperCommand {
  /** Sent to its group, this signal ends it and everything below it. */
  readonly last: NodeJS.Signals;
  /** Its exit code if the program does not exist; undefined without a keeper. */
  readonly not_found: number | undefined;
}

/** The command for `program args` below a keeper, or alone if there is no perl. */
export const kept = (program: string, args: readonly string[], env: ProcessEnvironment): KeptCommand => {
  const reaper = theReaper();
  return reaper === undefined
    ? { program, args, env, last: "SIGKILL", not_found: undefined }
    : {
        program: reaper.perl,
        args: ["-e", reaper.keeper, program, ...args],
        env: setAside(env),
        last: END_ALL,
        not_found: NOT_FOUND,
      };
};
