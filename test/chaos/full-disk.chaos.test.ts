/**
 * A disk that is really full (promise R24): the daemon's state on a small tmpfs of its own, its runs on the disk of the
 * test. In a mount namespace, and visibly skipped where none can be made.
 */
import { spawn, spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { figure } from "../support/figures.ts";
import { AGENT, DAEMON } from "./client.ts";
import { clientOf, endMarked, environment, lives, temporaryDirectory, until } from "./support.ts";

const canMount = spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status === 0;

/**
 * Large enough for the write-ahead log until SQLite empties it by itself (4 MB), and for a second copy of all, however many
 * transactions a slow machine makes of the same lines. The state directory as its daemon sees it is `stateDir`; `seen` is the same from outside. */
const startOnTmpfs = async () => {
  const base = temporaryDirectory();
  const stateDir = join(base, "s");
  mkdirSync(stateDir);
  mkdirSync(join(base, "r"));
  const said = openSync(join(base, "said"), "a");
  const script =
    'mount -t tmpfs -o size=12m,mode=700 tmpfs "$1" && mkdir "$1/runs" && mount --bind "$2" "$1/runs" && exec "$3" "$4" --state-dir "$1"';
  const daemon = spawn(
    "unshare",
    ["-rm", "sh", "-c", script, "sh", stateDir, join(base, "r"), process.execPath, DAEMON],
    // The whole disk is far below the floor of free disk, and it is to become full: the floor would refuse everything before.
    { cwd: "/", env: { ...environment(), HOLDFAST_DISK_MIN: "0" }, stdio: ["ignore", said, said] },
  );
  closeSync(said);
  const seen = `/proc/${daemon.pid}/root${stateDir}`;
  const client = clientOf(seen);
  let storeId = "";
  onTestFinished(async () => {
    daemon.kill("SIGKILL");
    await until("the daemon is gone", () => daemon.exitCode !== null || daemon.signalCode !== null);
    endMarked(storeId);
  });
  await until("the daemon answers", async () => {
    if (daemon.exitCode !== null) throw new Error(readFileSync(join(base, "said"), "utf8"));
    const status = await client.request<{ store_id: string }>("daemon/status", {}).catch(() => undefined);
    storeId = status?.store_id ?? "";
    return status !== undefined;
  });
  return { client, seen, pid: daemon.pid as number };
};

const fill = (path: string): void => {
  const fd = openSync(path, "w");
  try {
    for (let block = 65_536; block >= 1; block = block >> 1) {
      try {
        for (;;) if (writeSync(fd, Buffer.alloc(block)) < block) break;
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code !== "ENOSPC") throw cause;
      }
    }
  } finally {
    closeSync(fd);
  }
};

const LINES = 400;

it.skipIf(!canMount)(
  `a full disk stops acknowledgements and nothing else; with room again all is recorded once (${canMount ? "tmpfs" : "skipped: no mount namespace"})`,
  async () => {
    const { client, seen, pid } = await startOnTmpfs();
    const go = join(temporaryDirectory(), "go");
    const script = `i=0; while [ $i -lt ${LINES} ]; do i=$((i+1)); echo "line $i"; [ $i = 200 ] && until [ -e ${go} ]; do sleep 0.05; done; done; exit 7`;
    const id = await client.spawn(["sh", "-c", script]);
    const printed = async () =>
      (await client.history(["agent.event"]))
        .filter(({ worker_id, payload }) => worker_id === id && payload.text !== undefined)
        .map(({ payload }) => payload.text?.trim());
    await until("it prints", async () => (await printed()).length >= 200);
    const agent = (await client.info(id)).pid as number;

    fill(join(seen, "filler"));
    let refusal = "";
    await until("a spawn is refused", async () => {
      refusal = await client.spawn(["true"]).then(
        () => "",
        (cause: Error) => cause.message,
      );
      return refusal !== "";
    });
    expect(refusal).toMatch(/The disk of the event log is full/);
    await until("its status says so", async () => {
      const { store_error } = await client.request<{ store_error: { code: string } | null }>(
        "daemon/status",
        {},
      );
      return store_error?.code === "DISK_FULL";
    });
    // Another daemon could not start there: the one that runs is not stopped for it.
    const upgraded = spawnSync(process.execPath, [AGENT, "daemon", "upgrade", "--force", "-o", "json"], {
      env: { ...environment(), HOLDFAST_HOME: seen },
      encoding: "utf8",
    });
    expect(JSON.parse(upgraded.stdout).error).toMatchObject({
      code: "DISK_FULL",
      message: expect.stringContaining("The running daemon was not changed."),
    });
    expect(await client.request("daemon/status", {})).toMatchObject({ pid });
    expect(lives(agent)).toBe(true);
    // It goes on, and ends, while nothing of it can be recorded.
    closeSync(openSync(go, "w"));
    await until("the agent has ended", () => !lives(agent));
    expect((await client.info(id)).state).toBe("running");

    rmSync(join(seen, "filler"));
    await client.wait([id]);
    expect(await printed()).toEqual(Array.from({ length: LINES }, (_, n) => `line ${n + 1}`));
    expect(await client.history(["worker_exited"], [id])).toMatchObject([{ payload: { exit_code: 7 } }]);
    await client.spawn(["true"]);
    expect(await client.request("db/check", {})).toMatchObject({ ok: true });

    // The same daemon, whose database is now deleted under it.
    for (const suffix of ["", "-wal", "-shm"]) rmSync(join(seen, `holdfast.db${suffix}`));
    await until("a spawn succeeds again", () =>
      client.spawn(["true"]).then(
        () => true,
        () => false,
      ),
    );
    expect(existsSync(join(seen, "holdfast.db"))).toBe(true);
    expect(await client.request("db/check", {})).toMatchObject({ ok: true });
    expect(await client.request("daemon/status", {})).toMatchObject({ pid, store_error: null });
    figure("R24", {
      rounds: 1,
      failures: 0,
      note: `real daemon on a full tmpfs: spawn refused, agent and its exit kept, ${LINES} lines recorded once; then its database deleted and written back`,
    });
  },
);
