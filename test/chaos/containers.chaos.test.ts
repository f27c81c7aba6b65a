/** Containers of skills, and the end of everybody who knows them: the next daemon leaves nothing, neither processes nor containers nor what a runtime keeps of them. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { containerName } from "../../src/adapters/process/containers.ts";
import { systemProgram } from "../../src/adapters/process/programs.ts";
import {
  addContainerSkill,
  containersLeft,
  hasContainers,
  makeImage,
  podman,
  removeImage,
} from "../skills/image.ts";
import { killIfThere } from "../support/kill-if-there.ts";
import { type Daemon, marked, sleep, startDaemon, temporaryDirectory, until } from "./support.ts";

const HOW = { env: { HOME: process.env.HOME ?? "/" } };
/** Starts are cut off at so many moments of the first half second. */
const CUTS = 12;
const CUT_EVERY_MS = 45;

const FOREVER = "echo there >there; sleep 600 & exec sleep 600";

const setUp = async () => {
  const dir = temporaryDirectory();
  const [stateDir, workspace] = [join(dir, "state"), join(dir, "work")];
  mkdirSync(workspace);
  const daemon = await startDaemon(stateDir, HOW);
  addContainerSkill({ stateDir }, "try/on", FOREVER, "capabilities: {files: write}\n");
  return { daemon, stateDir, workspace };
};

const begin = (daemon: Daemon, workspace: string, skill = "try/on"): void => {
  daemon.request("skill/run", { skill, workspace }).catch(() => undefined);
};

const begun = async (daemon: Daemon, workspace: string) => {
  begin(daemon, workspace);
  await until("its program runs", () => readdirSync(workspace).includes("there"));
  const { store_id } = await daemon.request<{ store_id: string }>("daemon/status", {});
  const [worker] = await daemon.list();
  const name = containerName(`${store_id}/${worker!.id}/1`);
  const id = idOf(name)!;
  const launcher = Number(
    /^\d+/.exec(readFileSync(join(daemon.stateDir, "runs", worker!.id, "1", "claimed"), "utf8")),
  );
  return { worker: worker!, store_id, id, launcher };
};

const idOf = (name: string): string | undefined => {
  try {
    return podman("container", "inspect", "--format", "{{.Id}}", name).trim();
  } catch {
    return undefined;
  }
};

/** The container's traces with its runtimes and in the cgroups. */
const tracesOf = (id: string): readonly string[] => {
  const runtimes = ["crun", "runc"].flatMap((name) => systemProgram(name) ?? []);
  const known = runtimes.flatMap((path) =>
    execFileSync(path, ["list", "-q"], { encoding: "utf8" }).split("\n"),
  );
  const cgroups = execFileSync("find", ["/sys/fs/cgroup", "-name", `*${id}*`], { encoding: "utf8" });
  return [...known.filter((one) => one === id), ...cgroups.split("\n").filter(Boolean)];
};

const isOver = (daemon: Daemon) => async (): Promise<boolean> =>
  (await daemon.list()).every(({ status }) => status === "failed" || status === "cancelled");

describe.skipIf(!hasContainers)("a container", () => {
  beforeAll(() => void makeImage());
  afterAll(removeImage);

  test("daemon, launcher and podman are killed in mid-run: the next daemon ends the container and removes it", async () => {
    const { daemon, stateDir, workspace } = await setUp();
    const { worker, store_id, id, launcher } = await begun(daemon, workspace);
    await daemon.kill9();
    process.kill(launcher, "SIGKILL");
    process.kill(worker.pid!, "SIGKILL");
    expect(containersLeft()).toHaveLength(1);
    const next = await startDaemon(stateDir, HOW);
    await until(
      "nothing of it is left",
      () => containersLeft().length === 0 && marked(store_id).length === 0,
    );
    expect(tracesOf(id)).toEqual([]);
    await until("its end is on record", isOver(next));
    const [exited] = await next.history(["worker_exited"]);
    expect(exited?.payload.sweep).toMatchObject({ survivors: [] });
    expect(exited?.payload.sweep).not.toHaveProperty("left_container");
  });

  test("everybody is killed at once, the container's own watcher too: nothing is left either", async () => {
    const { daemon, stateDir, workspace } = await setUp();
    const { store_id, id } = await begun(daemon, workspace);
    await daemon.kill9();
    for (const { identity } of marked(store_id)) killIfThere(identity.pid);
    await until("all are gone", () => marked(store_id).length === 0);
    expect(containersLeft()).toHaveLength(1);
    await startDaemon(stateDir, HOW);
    await until("nothing of it is left", () => containersLeft().length === 0);
    await until("nothing is left with its runtime", () => tracesOf(id).length === 0);
  });

  test("the daemon alone is killed: the next one adopts the run, and its kill ends the container", async () => {
    const { daemon, stateDir, workspace } = await setUp();
    const { worker, store_id, id } = await begun(daemon, workspace);
    await daemon.kill9();
    const next = await startDaemon(stateDir, HOW);
    expect(await next.info(worker.id)).toMatchObject({ state: "running", incarnation: 1 });
    await next.kill([worker.id]);
    expect(containersLeft()).toEqual([]);
    expect(marked(store_id)).toEqual([]);
    expect(tracesOf(id)).toEqual([]);
  });

  test(`podman is killed at ${CUTS} moments of a start, and nothing is left`, async () => {
    const { daemon, workspace } = await setUp();
    const { store_id } = await daemon.request<{ store_id: string }>("daemon/status", {});
    for (let cut = 0; cut < CUTS; cut += 1) {
      const before = (await daemon.list()).length;
      // One skill would be given a rest after five failures.
      addContainerSkill(daemon, `try/on-${cut}`, FOREVER, "capabilities: {files: write}\n");
      begin(daemon, workspace, `try/on-${cut}`);
      await until("it has begun", async () => (await daemon.list()).some(({ pid }) => pid !== null));
      expect((await daemon.list()).length).toBe(before + 1);
      const { id, pid } = (await daemon.list()).find((one) => one.pid !== null)!;
      // No condition tells these moments apart.
      await sleep(cut * CUT_EVERY_MS);
      const known = idOf(containerName(`${store_id}/${id}/1`));
      try {
        process.kill(pid!, "SIGKILL");
      } catch {
        // It has ended.
      }
      await until("it is over", isOver(daemon));
      expect(containersLeft()).toEqual([]);
      expect(marked(store_id)).toEqual([]);
      expect(known === undefined ? [] : tracesOf(known)).toEqual([]);
    }
  });
});
