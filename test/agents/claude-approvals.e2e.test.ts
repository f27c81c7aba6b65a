/** The questions of Claude Code itself before it uses a tool, their answers, and the ends of its turns. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { claude } from "./agents.ts";
import { describeWorld } from "./suite.ts";
import {
  makeCanary,
  makeCwd,
  replaceDaemon,
  resultsOfCalls,
  type Story,
  until,
  type World,
} from "./world.ts";

const ASK = ["--permission", "ask"] as const;

const approvalsOf = async (world: World, id: string, ...flags: string[]): Promise<readonly unknown[]> =>
  JSON.parse(await world.agent("approvals", ...flags, "-o", "json")).data.filter(
    ({ worker_id }: { readonly worker_id: string }) => worker_id === id,
  );

/** It has asked whether it may write, and waits. */
const asking = async (world: World, cwd: string, ...flags: string[]): Promise<string> => {
  const id = await world.spawnWith("shellwrite", cwd, ...ASK, ...flags);
  await until(async () => (await approvalsOf(world, id)).length === 1, "it asks");
  return id;
};

const made = (cwd: string): string | undefined => {
  const file = join(cwd, "made.txt");
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
};

const answersOf = (story: Story) => story.of("approval_answered").map(({ payload }) => payload);

describeWorld(claude, "claude asks for permission", (world) => {
  it("its request is shown; approved by the worker's name, it writes, and ends by itself", async () => {
    const cwd = makeCwd();
    const id = await asking(world(), cwd, "--name", "writer");
    expect(await approvalsOf(world(), id)).toMatchObject([
      { worker: "writer", tool: "Bash", state: "open", input: { command: "echo made-by-tool > made.txt" } },
    ]);
    expect(made(cwd)).toBe(undefined);
    await world().agent("approvals", "approve", "writer");
    const story = await world().story(id);
    expect(story.of("worker_completed")).toHaveLength(1);
    expect(made(cwd)).toBe("made-by-tool\n");
    expect(answersOf(story)).toMatchObject([{ decision: "allow", by: "user" }]);
    expect(await approvalsOf(world(), id)).toEqual([]);
    expect(await approvalsOf(world(), id, "--all")).toMatchObject([{ state: "allowed" }]);
  });

  it("denied with a reason, it does not write, is told why, and ends by itself", async () => {
    const cwd = makeCwd();
    const id = await asking(world(), cwd);
    const before = world().model.requests.length;
    await world().agent("approvals", "deny", id, "--reason", "Nothing is written on Fridays.");
    const story = await world().story(id);
    expect(story.of("worker_completed")).toHaveLength(1);
    expect(made(cwd)).toBe(undefined);
    const results = world()
      .model.requests.slice(before)
      .flatMap(({ results: given = [] }) => given);
    expect(results.join("")).toContain("Nothing is written on Fridays.");
  });

  it("a rule of `echo` allows no echo into a file; a rule of the tool does", async () => {
    const [first, second] = [makeCwd(), makeCwd()];
    const id = await asking(world(), first, "--allow-tool", "Bash(echo *)");
    await world().agent("approvals", "deny", id);
    await world().story(id);
    expect(made(first)).toBe(undefined);

    const story = await world().story(
      await world().spawnWith("shellwrite", second, ...ASK, "--allow-tool", "Bash"),
    );
    expect(answersOf(story)).toMatchObject([{ decision: "allow", by: "policy" }]);
    expect(story.of("worker_completed")).toHaveLength(1);
    expect(made(second)).toBe("made-by-tool\n");
  });

  it("its daemon is killed while it asks: the answer that the next one is given counts", async () => {
    const cwd = makeCwd();
    const id = await asking(world(), cwd);
    await replaceDaemon(world());
    await world().agent("approvals", "approve", id);
    const story = await world().story(id);
    expect(story.of("worker_adopted")).toHaveLength(1);
    expect(story.of("worker_completed")).toMatchObject([{ incarnation: 1 }]);
    expect(made(cwd)).toBe("made-by-tool\n");
  });
});

describeWorld(claude, "claude's sub-agent in the background asks for permission", (world) => {
  it("over the end of the turn, and is answered; the input is ended when it has reported back", async () => {
    const cwd = makeCwd();
    const id = await world().spawnWith("subagent", cwd, ...ASK);
    await until(async () => (await world().soFar(id)).of("turn_completed").length === 1, "its turn is over");
    await until(async () => (await approvalsOf(world(), id)).length === 1, "its sub-agent asks");
    await world().agent("approvals", "approve", id);
    const story = await world().story(id);
    expect(made(cwd)).toBe("made-by-tool\n");
    expect(story.of("turn_completed")).toHaveLength(2);
    expect(story.of("worker_completed")).toHaveLength(1);
  });
});

describeWorld(claude, "claude's turn is ended", (world) => {
  it.each(["hangstream", "shellsleep"] as const)(
    "cancelled in %s, it goes on with the next question in the same session",
    async (scenario) => {
      const cwd = makeCwd();
      const isHeld = makeCanary(cwd);
      const before = world().model.requests.length;
      const id = await world().spawn(scenario, cwd, "--interactive");
      const isAsked = () => world().model.requests.slice(before).length > 0;
      const isInTurn = async () => isAsked() && (await world().soFar(id)).of("turn_started").length === 1;
      await until(scenario === "shellsleep" ? isHeld : isInTurn, "it is at work");
      await world().agent("cancel", id);
      const said = await world().agent("ask", id, "And now? [[scenario:text]]", "-o", "text");
      expect(said).toBe("Hello from the fake model.\n");
      expect(resultsOfCalls(await world().soFar(id))).toEqual(scenario === "shellsleep" ? [1] : []);
      await world().agent("send", id, "--close");
      const story = await world().story(id);
      expect(isHeld()).toBe(false);
      expect(story.of("worker_exited")).toMatchObject([{ incarnation: 1 }]);
      expect(new Set(story.of("session_started").map(({ payload }) => payload.session_id)).size).toBe(1);
      expect(world().model.requests.slice(before).at(-1)).toMatchObject({ scenario: "text" });
    },
  );

  it("killed in the middle of a tool, it is asked to end its turn before it is sent a signal", async () => {
    const cwd = makeCwd();
    const isHeld = makeCanary(cwd);
    const id = await world().spawn("shellsleep", cwd, "--interactive");
    await until(isHeld, "the tool runs");
    await world().agent("kill", id, "--grace", "5s");
    expect(isHeld()).toBe(false);
    const story = await world().story(id);
    expect(story.of("worker_cancelled")).toHaveLength(1);
    const steps = story.records.flatMap((record) => {
      if (record.type === "worker_signal_sent") return [record.payload.signal];
      if (record.type === "turn_completed") return ["turn over"];
      const isAccepted = record.type === "worker_message" && record.payload.state === "accepted";
      return isAccepted && record.payload.text?.includes('"interrupt"') ? ["asked"] : [];
    });
    expect(steps).toEqual(["asked", "turn over", "SIGTERM"]);
  });
});
