/**
 * Starts the launchers. A fork of the daemon copies the page tables of its whole memory and blocks its event
 * loop meanwhile. A small perl beside it forks in a fraction of that time, however large the daemon is.
 * Running launchers do not depend on it: if it dies or hangs, the daemon starts another one and only the
 * starts in progress fail (docs/decisions/0036).
 *
 * It also does what no shell can: a launcher begins with no descriptors except stdio, in its own session, as
 * the sub-reaper of its run (docs/decisions/0032), and with only the environment of the request.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, constants as files, openSync } from "node:fs";
import { constants as system } from "node:os";
import { FORK_ANSWER_MAX_MS } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { ProcessIdentity } from "../../protocol/records.ts";
import { identityOf, readStat } from "./identity.ts";
import { DIRECTORY_MODE, FILE_MODE, SPARE_CLAIM } from "./run-directory.ts";
import { CLOSE_RANGE, PR_SET_CHILD_SUBREAPER, type SystemCallNumbers } from "./system-calls.ts";

const [SIG_BLOCK, SIG_SETMASK] = [0, 2];
const OUTPUT = files.O_WRONLY | files.O_APPEND | files.O_CREAT | files.O_NOFOLLOW;
const NEW_FILE = files.O_WRONLY | files.O_CREAT | files.O_EXCL | files.O_NOFOLLOW;
/** It does not wait for the reader of a pipe. */
const OLD_FILE = files.O_WRONLY | files.O_APPEND | files.O_NOFOLLOW | files.O_NONBLOCK;
/** SFD_CLOEXEC | SFD_NONBLOCK. */
const SFD_FLAGS = 0o2000000 | 0o4000;

/**
 * Reads requests from fd 0 and answers on fd 1. A request is its length in four bytes, then fields separated
 * by NUL: an id, the directory, the file that claims the run, the files of stdin, stdout and stderr, the program,
 * the number of arguments, the arguments, and the environment as NAME=VALUE. An answer is a line: `S id pid start_time` (the
 * launcher's program runs), `F id errno` (it failed to start), `E pid status` (it has ended). The start_time
 * is read before the child is reaped, so no other process can have the pid yet. A request without a working
 * directory is for a new directory with empty files, and `M id` says that it is there.
 */
const serverCode = (calls: SystemCallNumbers): string => String.raw`# holdfast fork server
my $chld = pack("Q", 1 << ${system.signals.SIGCHLD - 1});
syscall(${calls.rt_sigprocmask}, ${SIG_BLOCK}, $chld, 0, 8);
if (syscall(${CLOSE_RANGE}, 3, 4294967295, 0) != 0) {
  opendir(my $fds, "/proc/self/fd");
  syscall(${calls.close}, $_ + 0) for grep { /^\d+$/ && $_ > 2 } readdir($fds);
}
my $ended = syscall(${calls.signalfd4}, -1, $chld, 8, ${SFD_FLAGS});
open(my $ends, "<&=", $ended) or exit 1;
sub tell_daemon { syswrite(STDOUT, "@_\n") }
sub is_new {
  return 1 if !lstat($_[0]) || (-f _ && -z _);
  $! = ${system.errno.EEXIST};
  0;
}
sub stdio {
  my ($in, $out, $err) = @_;
  close(STDIN); sysopen(STDIN, $in, ${files.O_RDONLY | files.O_NOFOLLOW}) or return 0;
  is_new($out) && is_new($err) or return 0;
  close(STDOUT); sysopen(STDOUT, $out, ${OUTPUT}, ${FILE_MODE}) or return 0;
  close(STDERR); sysopen(STDERR, $err, ${OUTPUT}, ${FILE_MODE});
}
sub start_time {
  my ($after) = readline($_[0]) =~ /.*\) (.*)/s;
  (split(/ /, $after))[19];
}
sub claim {
  open(my $stat, "<", "/proc/self/stat") or return 0;
  my $identity = "$$ " . start_time($stat) . "\n";
  my $spare = (dirname($_[0])) . "/${SPARE_CLAIM}";
  if (sysopen(my $ready, $spare, ${OLD_FILE})) {
    syswrite($ready, $identity) == length $identity or return 0;
    return unlink($spare) if link($spare, $_[0]);
    return 0 if $! == ${system.errno.EEXIST};
  }
  sysopen(my $claimed, $_[0], ${NEW_FILE}, ${FILE_MODE}) or return 0;
  syswrite($claimed, $identity) == length $identity;
}
sub dirname { substr($_[0], 0, rindex($_[0], "/")) }
sub make_files {
  my ($id, $dir, @names) = @_;
  mkdir($dir, ${DIRECTORY_MODE}) or return tell_daemon("F", $id, $! + 0);
  for (@names) { sysopen(my $file, "$dir/$_", ${NEW_FILE}, ${FILE_MODE}) or return tell_daemon("F", $id, $! + 0) }
  tell_daemon("M", $id);
}
sub start {
  my ($id, $cwd, $claimed, $in, $out, $err, $program, $count, @rest) = @_;
  return make_files($id, @_[2 .. $#_]) if $cwd eq "";
  my @args = splice(@rest, 0, $count);
  pipe(my $failed, my $fail) or return tell_daemon("F", $id, $! + 0);
  my $pid = fork;
  defined $pid or return tell_daemon("F", $id, $! + 0);
  if ($pid == 0) {
    syscall(${calls.rt_sigprocmask}, ${SIG_SETMASK}, my $none = pack("Q", 0), 0, 8);
    syscall(${calls.prctl}, ${PR_SET_CHILD_SUBREAPER}, 1, 0, 0, 0);
    %ENV = map { split(/=/, $_, 2) } @rest;
    claim($claimed) && stdio($in, $out, $err) && chdir($cwd) && syscall(${calls.setsid}) > 0 && exec { $program } $program, @args;
    syswrite($fail, $! + 0);
    kill(9, $$);
  }
  close($fail);
  my $errno = open(my $stat, "<", "/proc/$pid/stat") ? "" : $! + 0;
  kill(9, $pid) if length $errno;
  sysread($failed, $errno, 16) unless length $errno;
  return tell_daemon("F", $id, $errno) if length $errno;
  tell_daemon("S", $id, $pid, start_time($stat));
}
my $asked = "";
for (;;) {
  my $ready = "";
  vec($ready, 0, 1) = vec($ready, $ended, 1) = 1;
  select($ready, undef, undef, undef) > 0 or next;
  if (vec($ready, $ended, 1)) {
    sysread($ends, my $signals, 4096);
    while ((my $pid = waitpid(-1, 1)) > 0) { tell_daemon("E", $pid, $?) }
  }
  vec($ready, 0, 1) or next;
  sysread(STDIN, $asked, 65536, length $asked) or exit 0;
  while (length $asked >= 4 and length $asked >= 4 + (my $length = unpack("N", $asked))) {
    my @fields = split(/\0/, substr($asked, 4, $length), -1);
    substr($asked, 0, 4 + $length) = "";
    start(@fields);
  }
}
`;

export interface ForkRequest {
  /** The working directory of the program. */
  readonly cwd: string;
  /** Created with the identity of the launcher, "PID START_TIME", before its program begins; the start fails if it exists. */
  readonly claimed: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Opened for reading; a link is not followed. */
  readonly stdin: string;
  /** Opened for appending, and created if they do not exist; nothing may be in them yet. */
  readonly stdout: string;
  readonly stderr: string;
}

/** Gets reports about a launcher from its parent. */
export interface LauncherListener {
  /** The launcher has ended. `code` is its exit code, or null if a signal ended it. */
  ended(code: number | null): void;
  /** The launcher's parent is gone, so its end will not be reported. */
  orphaned(): void;
}

/** The program was not started, and nothing of it runs. */
export class ForkError extends Error {
  /** The errno name: ENOENT, E2BIG, EAGAIN. */
  readonly code: string;

  constructor(code: string) {
    super(`the launcher could not be started: ${code}`);
    this.code = code;
  }
}

interface Pending {
  /** Undefined: files were made. */
  readonly done: (launcher: ProcessIdentity | undefined) => void;
  readonly reject: (cause: Error) => void;
  readonly timer: NodeJS.Timeout;
}

const names = new Map(Object.entries(system.errno).map(([name, number]) => [number, name]));

export class ForkServer {
  readonly perl: string;
  private readonly code: string;
  private readonly answerMaxMs: number;
  /** Called when a server is lost. The next start begins another server. */
  private readonly onLoss: (cause: Error) => void;
  private server: ChildProcess | undefined;
  private readonly pending = new Map<string, Pending>();
  /** Running launchers of this server, by pid. */
  private readonly running = new Map<number, LauncherListener>();
  private asked = 0;
  private rest = "";

  constructor(
    perl: string,
    calls: SystemCallNumbers,
    onLoss: (cause: Error) => void,
    answerMaxMs: number = FORK_ANSWER_MAX_MS,
  ) {
    this.answerMaxMs = answerMaxMs;
    this.perl = perl;
    this.code = serverCode(calls);
    this.onLoss = onLoss;
  }

  /** Rejects with a ForkError, or with UNAVAILABLE if the server was lost. The launcher may run even then. */
  start(request: ForkRequest, follower: LauncherListener): Promise<ProcessIdentity> {
    return new Promise((resolve, reject) => {
      const done = (launcher: ProcessIdentity | undefined): void => {
        if (launcher === undefined) return;
        this.running.set(launcher.pid, follower);
        resolve(launcher);
      };
      this.ask(fieldsOf(request), { done, reject });
    });
  }

  /** Makes a directory with empty files, for this user alone. False if it could not, or if there is no server. */
  makeFiles(dir: string, names: readonly string[]): Promise<boolean> {
    if (this.server === undefined) return Promise.resolve(false);
    return new Promise((resolve) => {
      this.ask(["", dir, ...names], { done: () => resolve(true), reject: () => resolve(false) });
    });
  }

  private ask(fields: readonly string[], how: Pick<Pending, "done" | "reject">): void {
    const id = String(++this.asked);
    const timer = setTimeout(() => this.lose("did not answer"), this.answerMaxMs);
    this.pending.set(id, { ...how, timer });
    try {
      this.server ??= this.begin();
      this.server.stdin!.write(message([id, ...fields]));
    } catch (cause) {
      this.lose("could not be started", cause);
    }
  }

  /** The server's pid; undefined before the first start, and after a loss until the next start. */
  get pid(): number | undefined {
    return this.server?.pid;
  }

  /** Ends the server; its launchers keep running. */
  close(): void {
    this.server?.stdin?.end();
    this.server = undefined;
  }

  private begin(): ChildProcess {
    const server = spawn(this.perl, ["-e", this.code], {
      cwd: "/",
      env: { LC_ALL: "C", PATH: "/usr/bin:/bin" },
      detached: true,
      stdio: ["pipe", "pipe", "ignore"],
    });
    const isThis = (): boolean => this.server === server;
    server.on("error", (cause) => isThis() && this.lose("could not be started", cause));
    server.on("exit", () => isThis() && this.lose("has ended"));
    server.stdin!.on("error", () => undefined);
    server.stdout!.on("data", (bytes: Buffer) => isThis() && this.hear(bytes.toString("latin1")));
    server.unref();
    for (const pipe of [server.stdin, server.stdout]) (pipe as unknown as { unref(): void }).unref();
    return server;
  }

  private hear(text: string): void {
    const lines = `${this.rest}${text}`.split("\n");
    this.rest = lines.pop()!;
    for (const line of lines) {
      const [kind, id = "", value = "", start_time = ""] = line.split(" ");
      if (kind === "S") this.take(id)?.done(identityOf(Number(value), start_time));
      else if (kind === "M") this.take(id)?.done(undefined);
      else if (kind === "F") this.failed(id, Number(value));
      else if (kind === "E") this.ended(Number(id), Number(value));
    }
  }

  private take(id: string): Pending | undefined {
    const pending = this.pending.get(id);
    this.pending.delete(id);
    clearTimeout(pending?.timer);
    return pending;
  }

  private failed(id: string, errno: number): void {
    this.take(id)?.reject(new ForkError(names.get(errno) ?? `errno ${errno}`));
  }

  /** `status` as in wait(2): a signal in the low bits, else the exit code above them. */
  private ended(pid: number, status: number): void {
    const follower = this.running.get(pid);
    this.running.delete(pid);
    follower?.ended((status & 0x7f) === 0 ? status >> 8 : null);
  }

  /** Gives the server up. Its launchers are then polled, like those of an earlier daemon. */
  private lose(how: string, cause?: unknown): void {
    const { server } = this;
    this.server = undefined;
    this.rest = "";
    // A stopped server would carry out its requests once it continues. Its forked child stays in its group
    // until just before it becomes the launcher.
    if (server?.pid !== undefined) killGroup(server.pid);
    const error = new Error(`The fork server ${how}; the next start has another one.`, { cause });
    this.onLoss(error);
    for (const id of [...this.pending.keys()])
      this.take(id)?.reject(new HoldfastError("UNAVAILABLE", error.message, { cause }));
    const followers = [...this.running.values()];
    this.running.clear();
    for (const follower of followers) follower.orphaned();
  }
}

const killGroup = (pid: number): void => {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group is gone.
  }
};

const fieldsOf = (request: ForkRequest): readonly string[] => {
  const { cwd, claimed, stdin, stdout, stderr, program, args, env } = request;
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return [cwd, claimed, stdin, stdout, stderr, program, String(args.length), ...args, ...variables];
};

const message = (fields: readonly string[]): Buffer => {
  const body = Buffer.from(fields.join("\0"));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  return Buffer.concat([length, body]);
};

/**
 * Starts a launcher from the daemon itself, on a machine without perl. The shell closes only descriptors that
 * it can name, and the launcher is not a sub-reaper and claims the run itself.
 */
export const forkAlone = async (
  request: ForkRequest,
  follower: LauncherListener,
): Promise<ProcessIdentity> => {
  const { cwd, env, program, args } = request;
  const open: number[] = [];
  const opened = (path: string, flags: string): number => {
    open.push(openSync(path, flags, FILE_MODE));
    return open.at(-1)!;
  };
  try {
    const stdio = [opened(request.stdin, "r"), opened(request.stdout, "ax"), opened(request.stderr, "ax")];
    const child = spawn(program, [...args], { cwd, env, stdio, detached: true });
    const failed = new Promise<never>((_, reject) => child.once("error", reject));
    child.once("exit", (code) => follower.ended(code));
    child.unref();
    const { pid } = child;
    if (pid === undefined) return await failed;
    failed.catch(() => undefined);
    // Our own child keeps its pid until we reap it, at the earliest in the next turn of the event loop.
    return identityOf(pid, readStat(pid)?.start_time ?? "");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw code === undefined ? cause : new ForkError(code);
  } finally {
    for (const fd of open) closeSync(fd);
  }
};
