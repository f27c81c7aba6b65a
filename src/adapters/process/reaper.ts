/**
 * Parents written in perl that keep what a program leaves: as a sub-reaper each is the parent of every process below it whose own parents have
 * ended, whatever it did to hide (docs/decisions/0032). One stays in the place of a launcher whose agent has left processes; one starts the git
 * that the daemon runs. perl-base is there on every Debian; nothing of this is done without perl, or on another processor.
 */
import { accessSync, constants } from "node:fs";
import { LAUNCHER_LINGER_MS } from "../../base/limits.ts";
import { PR_SET_CHILD_SUBREAPER, type SystemCallNumbers, theCalls } from "./system-calls.ts";

const PERL = "/usr/bin/perl";

/** Variables that the agent's environment has for perl would load something into this one: it is kept under these names until perl has begun. */
const SET_ASIDE = "HOLDFAST_AGENT_";

/** Gives the program back what `setAside` has taken. */
const GIVE_BACK = [
  "delete $ENV{PERL_BADLANG};",
  `/^${SET_ASIDE}(PERL.*)/s and $ENV{$1} = delete $ENV{$_} for keys %ENV;`,
].join(" ");

const asReaper = (prctl: number): string => `syscall(${prctl}, ${PR_SET_CHILD_SUBREAPER}, 1, 0, 0, 0);`;

/**
 * The launcher's end where the agent has left processes: it writes the exit, and stays their parent until the sweep has ended them.
 * $ARGV[0] is the exit file. It stays for the sweep even if nobody is left when $ARGV[1] is set.
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
 * The parent of a program that nobody supervises: what the program leaves stays below it until it is ended here, and only then is this one
 * over, as the program was. TERM is passed on; END_ALL ends all that is below it.
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

/** Undefined where there is none. */
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

/** Without what perl would load, and without its complaint on stderr of a locale that is not installed. */
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
  /** To its group: ends it with all that is below it. */
  readonly last: NodeJS.Signals;
  /** It exits so where there is no such program. */
  readonly not_found: number | undefined;
}

/** `program args` below a keeper; where there is none, alone. */
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
