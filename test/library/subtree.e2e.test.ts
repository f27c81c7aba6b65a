/** A wait for a worker and all that its agent has spawned, by a program that takes both over from a daemon. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeCommands, until } from "../cli/support/commands.ts";
import { AGENT } from "../support/built.ts";
import { collect, openRuntime } from "./support.ts";

test("wait with subtree resolves after the last worker below, and without it before", async () => {
  const commands = makeCommands();
  try {
    const go = join(commands.home, "go");
    const below = `until [ -e ${go} ]; do sleep 0.05; done`;
    const script = `${process.execPath} ${AGENT} spawn --name below -- sh -c '${below}'; touch ${go}.spawned`;
    const env = ["--env", `HOLDFAST_HOME=${commands.home}`];
    const above = await commands.agent("spawn", "--name", "above", ...env, "--", "sh", "-c", script);
    await until(() => existsSync(`${go}.spawned`));
    expect((await commands.agent("daemon", "stop", "--keep-agents")).exit).toBe(0);
    const runtime = await openRuntime(commands.home);
    expect(await runtime.wait("above")).toMatchObject({ status: "completed" });
    await expect(runtime.wait("above", { timeout_ms: 1, subtree: true })).rejects.toMatchObject({
      code: "TIMEOUT",
    });
    writeFileSync(go, "");
    const ends = await runtime.wait("above", { subtree: true });
    expect(ends).toMatchObject([
      { id: above.data.id, status: "completed" },
      { name: "below", status: "completed" },
    ]);
    expect(await runtime.wait(["above"], { subtree: true })).toHaveLength(2);
    const ended = await collect(
      runtime.watch({ ids: ["above"], subtree: true, types: ["worker_completed"] }),
    );
    expect(ended.map(({ worker_id }) => worker_id)).toEqual(ends.map(({ id }) => id));
    await expect(collect(runtime.watch({ subtree: true }))).rejects.toMatchObject({
      code: "INVALID_REQUEST",
    });
    await runtime.close();
  } finally {
    await commands.close();
  }
});
