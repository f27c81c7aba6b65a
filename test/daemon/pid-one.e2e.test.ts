/** The daemon as PID 1 of a container without an init: a pid namespace of its own, which needs no privileges where the machine allows it. */
import { execFile, spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { childrenOf } from "../../bench/inspect.ts";
import { child, makeCanary, temporaryDirectory } from "../adapters/process/support.ts";
import { AGENT, clientOf, DAEMON, environment, until } from "../chaos/client.ts";

const CONTAINER = ["--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"];

test("a daemon that is PID 1 runs agents and kills them, orphans and all, and doctor asks for an init", async ({
  skip,
}) => {
  const tried = spawnSync("unshare", [...CONTAINER, "true"], { encoding: "utf8" });
  if (tried.status !== 0) {
    process.stdout.write(`skipped: no pid namespace can be made here (${(tried.stderr ?? "").trim()})\n`);
    return skip("no pid namespace can be made here");
  }
  const dir = temporaryDirectory();
  const stateDir = join(dir, "state");
  const container = spawn("unshare", [...CONTAINER, process.execPath, DAEMON, "--state-dir", stateDir], {
    cwd: "/",
    env: environment(),
    stdio: "ignore",
  });
  // PID 1 takes all of its namespace with it.
  onTestFinished(async () => {
    container.kill("SIGKILL");
    await until("the container is gone", () => container.exitCode !== null || container.signalCode !== null);
  });
  const client = clientOf(stateDir);
  const status = () => client.request<{ pid: number }>("daemon/status", {}).catch(() => undefined);
  await until("it answers", async () => (await status()) !== undefined);
  expect((await status())?.pid).toBe(1);

  // Its grandchild is orphaned twice over, so PID 1 inherits it.
  const canary = makeCanary(dir);
  const id = await client.spawn([child("double-fork.sh"), canary.path]);
  await until("it runs", async () => (await client.info(id)).state === "running");
  await until("it holds its canary", () => canary.isHeld());
  await client.kill([id]);
  expect(await client.info(id)).toMatchObject({ state: "cancelled" });
  expect(canary.isHeld()).toBe(false);
  const [exited] = await client.history(["worker_exited"]);
  expect(exited?.payload.sweep).toMatchObject({ survivors: [] });

  // Doctor looks from inside, as somebody in the container would.
  const [inside] = childrenOf(container.pid as number);
  const { stdout } = await promisify(execFile)(
    "nsenter",
    [
      "--target",
      String(inside),
      "--user",
      "--pid",
      "--mount",
      process.execPath,
      AGENT,
      "doctor",
      "-o",
      "text",
    ],
    { env: { ...environment(), HOLDFAST_HOME: stateDir } },
  ).catch((failed: { stdout: string }) => failed);
  expect(stdout).toContain("the daemon is PID 1, and nothing reaps the orphans of its agents");
  expect(stdout).toContain("docker run --init");
}, 120_000);
