/** Every example is run, and prints what its header says. They import the built package, as their reader would. */
import { execFile, spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { AGENT } from "../support/built.ts";
import { program, stateDirectory } from "./support.ts";

const folder = resolve(import.meta.dirname, "../../examples");

const prints: Record<string, readonly RegExp[]> = {
  "fan-out.ts": ["lint", "types", "unit tests", "docs", "changelog"].map(
    (question) => new RegExp(`^${question}: looks fine$`),
  ),
  "reviews.ts": [/^login\.ts: low$/, /^pay\.ts: high$/, /^vendor\.ts: CANCELLED$/],
  "chaos.ts": [
    ...[1, 2, 3, 4, 5].flatMap((n) => [
      new RegExp(`^\\d+  incarnation ${n} ended: SIGKILL$`),
      new RegExp(`^\\d+  restart ${n} of 5, in \\d+ ms$`),
    ]),
    /^\d+ {2}incarnation 6 ended: SIGTERM$/,
    /^\d+ {2}ended: cancelled, the show is over$/,
  ],
};

describe("examples", () => {
  test("are all known here", () => {
    // test/tree-file reads those of `tree`, test/cli/user-adapters runs those of `adapters`, test/support/beam that of `beam`.
    expect(readdirSync(folder).sort()).toEqual(
      [...Object.keys(prints), "adapters", "beam", "python", "tree"].sort(),
    );
  });

  test.each(Object.entries(prints))(
    "%s runs, ends by itself, and prints what it should",
    async (name, lines) => {
      const { code, stdout, stderr } = await program(join(folder, name)).ended;
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      const printed = stdout.trimEnd().split("\n");
      expect(printed).toHaveLength(lines.length);
      for (const [index, line] of printed.entries()) expect(line).toMatch(lines[index] as RegExp);
    },
  );

  test.skipIf(spawnSync("python3", ["--version"]).status !== 0)(
    "holdfast_client.py spawns over the socket, watches, and kills what it has seen to live",
    async () => {
      const stateDir = stateDirectory();
      const env = { PATH: process.env.PATH ?? "", HOME: stateDir, LANG: "C.UTF-8", HOLDFAST_HOME: stateDir };
      const run = (file: string, args: readonly string[]): Promise<string> =>
        new Promise((done, fail) =>
          execFile(file, args, { env, timeout: 120_000 }, (error, stdout) =>
            error ? fail(error) : done(stdout),
          ),
        );
      const agent = (...args: readonly string[]) => run(process.execPath, [AGENT, ...args]);
      await agent("daemon", "start");
      try {
        const script = "echo hello; exec sleep 600";
        const printed = await run("python3", [
          join(folder, "python/holdfast_client.py"),
          "--",
          "sh",
          "-c",
          script,
        ]);
        const lines = printed.trimEnd().split("\n");
        expect(lines[0]).toBe("worker_spawn_requested ");
        expect(lines).toContain("agent.event hello");
        expect(lines.filter((line) => line.startsWith("worker_exited"))).toHaveLength(1);
        expect(lines.at(-2)).toBe("worker_ended ");
        expect(lines.at(-1)).toBe("watched");
        const { data } = JSON.parse(await agent("list", "--all", "-o", "json"));
        expect(data).toMatchObject([{ status: "cancelled", reason: "seen" }]);
        const refused = (...argv: readonly string[]) => {
          const client = join(folder, "python/holdfast_client.py");
          const { status, stderr } = spawnSync("python3", [client, ...argv], { env, encoding: "utf8" });
          return { status, stderr };
        };
        const usage = "usage: holdfast_client.py -- PROGRAM [ARGUMENT...]\n";
        expect(refused()).toEqual({ status: 1, stderr: usage });
        expect(refused("--")).toEqual({ status: 1, stderr: usage });
        const unknown = refused("--", "no-such-program");
        expect(unknown).toEqual({
          status: 1,
          stderr: expect.stringMatching(/^error: BINARY_NOT_FOUND: .*\n$/),
        });
      } finally {
        await agent("daemon", "stop", "--kill-agents");
      }
    },
    240_000,
  );
});
