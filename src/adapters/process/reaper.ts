/**
 * Work that a launcher's shell cannot do itself, done by perl before it: close every descriptor but stdio, and become the sub-reaper of its run,
 * so that a process whose parents have ended becomes the launcher's child, whatever it did to hide (docs/decisions/0032). perl-base is
 * there on every Debian; without perl, or on another processor, the shell runs alone and closes what it can name. The git that the daemon
 * runs has such a parent, too.
 */
import { accessSync, constants } from "node:fs";
import { LAUNCHER_LINGER_MS } from "../../base/limits.ts";

const PERL = "/usr/bin/perl";

/** Numbers of the kernel's calls (asm/unistd.h): prctl(2), close(2); close_range(2) has the same one everywhere. */
const CALLS: Partial<Record<NodeJS.Architecture, { readonly prctl: number; readonly close: number }>> = {
  x64: { prctl: 157, close: 3 },
  arm64: { prctl: 167, close: 57 },
};
const CLOSE_RANGE = 436;
const PR_SET_CHILD_SUBREAPER = 36;

/** Variables that the agent's environment has for perl would load something into this one: it is kept under these names until perl has begun. */
const SET_ASIDE = "HOLDFAST_AGENT_";

/** Gives the program back what `setAside` has taken. */
const GIVE_BACK = [
  "delete $ENV{PERL_BADLANG};",
  `/^${SET_ASIDE}(PERL.*)/s and $ENV{$1} = delete $ENV{$_} for keys %ENV;`,
].join(" ");

const asReaper = (prctl: number): string => `syscall(${prctl}, ${PR_SET_CHILD_SUBREAPER}, 1, 0, 0, 0);`;

const preparing = ({ prctl, close }: { readonly prctl: number; readonly close: number }): string =>
  [
    asReaper(prctl),
    // A kernel before 5.9 has no close_range.
    `if (syscall(${CLOSE_RANGE}, 3, 4294967295, 0) != 0) {`,
    'opendir(my $fds, "/proc/self/fd");',
    `syscall(${close}, $_ + 0) for grep { /^\\d+$/ && $_ > 2 } readdir($fds);`,
    "}",
    GIVE_BACK,
    "exec { $ARGV[0] } @ARGV; exit 126",
  ].join(" ");

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
  readonly code: string;
  readonly keeper: string;
}

let found: Reaper | null | undefined;

const look = (): Reaper | null => {
  const calls = process.platform === "linux" ? CALLS[process.arch] : undefined;
  if (calls === undefined) return null;
  try {
    accessSync(PERL, constants.X_OK);
    return { perl: PERL, code: preparing(calls), keeper: keeping(calls.prctl) };
  } catch {
    return null;
  }
};

/** Undefined where there is none. */
export const theReaper = (): Reaper | undefined => {
  if (found === undefined) found = look();
  return found ?? undefined;
};

export type Environment = Readonly<Record<string, string>>;

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Environment;
}

/** Without what perl would load, and without its complaint on stderr of a locale that is not installed. */
const setAside = (env: Environment): Environment => ({
  ...Object.fromEntries(
    Object.entries(env).map(([name, value]) => [
      name.startsWith("PERL") ? `${SET_ASIDE}${name}` : name,
      value,
    ]),
  ),
  PERL_BADLANG: "0",
});

/** `program args` with the reaper before it. */
export const behind = (
  reaper: Reaper | undefined,
  program: string,
  args: readonly string[],
  env: Environment,
): Command =>
  reaper === undefined
    ? { program, args, env }
    : { program: reaper.perl, args: ["-e", reaper.code, program, ...args], env: setAside(env) };

export interface KeptCommand extends Command {
  /** To its group: ends it with all that is below it. */
  readonly last: NodeJS.Signals;
  /** It exits so where there is no such program. */
  readonly not_found: number | undefined;
}

/** `program args` below a keeper; where there is none, alone. */
export const kept = (program: string, args: readonly string[], env: Environment): KeptCommand => {
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
