/** The work of Claude Code itself: its directory, its changes, its usage and its sessions. */
import { existsSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { lookForSandbox } from "../../src/workspace/sandbox/sandbox.ts";
import { makeRepository } from "../support/repository.ts";
import { claude } from "./agents.ts";
import { BINARIES } from "./install.ts";
import { describeWorld } from "./suite.ts";
import { makeCwd, type Story, until, type World } from "./world.ts";

/** The checkout of this project may be below /tmp, which is empty in a sandbox. */
const CONFINED = ["--sandbox", "workspace", "--sandbox-writable", dirname(BINARIES.claude)] as const;
/** As it is recommended; the container that these run in is often root's. */
const ALLOWED = ["--permission", "allow", ...CONFINED] as const;
const sandbox = await lookForSandbox();

const sessionsOf = (story: Story) => story.of("session_started").map(({ payload }) => payload.session_id);

/** A command that begins a worker; its story. */
const storyOf = async (world: World, ...argv: string[]): Promise<Story> =>
  world.story(JSON.parse(await world.agent(...argv, "-o", "json")).data.id);

describeWorld(claude, "claude's sessions and work", (world) => {
  it("resumed, it goes on in its session; forked, in another one that has what was said", async () => {
    const id = await world().spawn("text", makeCwd());
    const [session] = sessionsOf(await world().story(id));
    // The same prompt again: the model sees how often it stands in the conversation.
    const again = "Please. [[scenario:text]]";
    const resumed = await storyOf(world(), "resume", id, again);
    expect(sessionsOf(resumed)).toEqual([session]);
    expect(resumed.of("worker_completed")).toHaveLength(1);
    expect(world().model.requests.at(-1)).toMatchObject({ asked: 2 });

    const forked = await storyOf(world(), "fork", id, again);
    expect(forked.of("worker_completed")).toHaveLength(1);
    expect(sessionsOf(forked)).toEqual([expect.not.stringMatching(session!)]);
    expect(world().model.requests.at(-1)).toMatchObject({ asked: 3 });
    expect(new Set([id, resumed.id, forked.id]).size).toBe(3);
  });

  it("in a worktree of its own it writes there alone; its changes and its usage are told", async () => {
    const { path, root } = makeRepository({ "README.md": "first\n" });
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const id = await world().spawn("shellwrite", path, "--worktree");
    const story = await world().story(id);
    expect(story.of("worker_completed")).toHaveLength(1);
    expect(existsSync(join(path, "made.txt"))).toBe(false);
    const { data: changes } = JSON.parse(await world().agent("changes", id, "-o", "json"));
    expect(changes.files).toMatchObject([{ path: "made.txt", change: "added", insertions: 1 }]);
    expect(await world().agent("changes", id, "-o", "text")).toContain("+made-by-tool");

    const { data: usage } = JSON.parse(await world().agent("usage", id, "-o", "json"));
    expect(usage.total).toMatchObject({ workers: 1, turns: 1, tool_calls: 1, output_tokens: 112 });
    expect(usage.total.cost_usd).toBeGreaterThan(0);
  });

  describe.skipIf(!("program" in sandbox))("with bubblewrap", () => {
    it("confined to its workspace, it writes there, and its session outlives its sandbox", async () => {
      const cwd = makeCwd();
      const id = await world().spawn("shellwrite", cwd, ...ALLOWED);
      const story = await world().story(id);
      expect(story.of("worker_completed")).toHaveLength(1);
      expect(existsSync(join(cwd, "made.txt"))).toBe(true);
      const resumed = await storyOf(world(), "resume", id, "Again. [[scenario:text]]");
      expect(sessionsOf(resumed)).toEqual(sessionsOf(story));
      expect(resumed.of("worker_completed")).toHaveLength(1);
    });

    it("killed in the middle of a tool, nothing is left of it", async () => {
      const id = await world().spawn("shellsleep", makeCwd(), ...CONFINED);
      await until(
        async () => (await world().soFar(id)).events.some(({ kind }) => kind === "ToolCall"),
        "a tool",
      );
      await world().agent("kill", id, "--grace", "2s");
      expect((await world().story(id)).of("worker_cancelled")).toHaveLength(1);
    });
  });
});
