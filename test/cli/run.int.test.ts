/** The client against a daemon that answers what the test says, on a real socket: modes, envelopes, exit codes. */
import { rmSync } from "node:fs";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { EnvelopeV1, ResponseEnvelope } from "../../src/protocol/envelope-schemas.ts";
import { HoldfastError } from "../../src/protocol/errors.ts";
import { type AgentOptions, agent } from "./support/agent.ts";
import { type Answerer, type FakeDaemon, fakeDaemon } from "./support/fake-daemon.ts";
import { programsOfKinds } from "./support/programs.ts";
import { ID, lifecycle, said, watched, worker } from "./support/samples.ts";

let daemon: FakeDaemon | undefined;
let programs: string;
beforeAll(() => {
  process.setMaxListeners(0);
  programs = programsOfKinds();
});
afterAll(() => rmSync(programs, { recursive: true, force: true }));
afterEach(async () => {
  await daemon?.close();
  daemon = undefined;
});

const against = async (answers: Record<string, Answerer>, argv: string[], options: AgentOptions = {}) => {
  daemon ??= await fakeDaemon(answers);
  const env = { PATH: `${programs}:${process.env.PATH}`, ...options.env };
  return agent(["--state-dir", daemon.stateDir, ...argv], { ...options, env });
};

const envelopeOf = (stdout: string): ResponseEnvelope => {
  const lines = stdout.trimEnd().split("\n");
  return ResponseEnvelope.parse(JSON.parse(lines.at(-1)!));
};

const watching: Answerer = (_data, emit) => {
  for (const record of lifecycle) emit(record);
  return watched(6, 6);
};

it("tree -f tells why its watch was refused, and does not stand there", async () => {
  const root = { id: "root", type: "supervisor", name: null, status: "running", children: [] };
  const refuse = () => {
    throw new HoldfastError("QUEUE_FULL", "100 watches are open already.");
  };
  const { exit, stdout } = await against({ "agent/tree": () => root, "agent/watch": refuse }, [
    "tree",
    "--follow",
  ]);
  expect({ exit, ...envelopeOf(stdout) }).toMatchObject({
    exit: 11,
    ok: false,
    error: { code: "QUEUE_FULL", message: "100 watches are open already." },
  });
});

it("spawn-many --wait tells the ids of its group when the wait for it is refused", async () => {
  const group = {
    epic_id: null,
    accepted: true,
    spawned_agents: [{ id: ID, role: "planner", task: "one", status: "running", depth: 0 }],
    denied_agents: [],
    suggestion: null,
    effect: "created",
  };
  const refuse = () => {
    throw new HoldfastError("QUEUE_FULL", "512 requests of this connection are in flight.");
  };
  const { exit, stdout } = await against(
    { "agent/spawn-many": () => group, "agent/wait": refuse, "agent/watch": refuse },
    ["spawn-many", "-", "--wait"],
    { stdin: '[{"role":"planner","task":"one"}]' },
  );
  expect({ exit, ...envelopeOf(stdout) }).toMatchObject({
    exit: 11,
    error: { code: "QUEUE_FULL" },
    meta: { partial: { spawned_agents: [{ id: ID, status: "running" }] } },
  });
});

describe("json", () => {
  it("is exactly one ResponseEnvelope, and list gives the array itself", async () => {
    const { exit, stdout, stderr } = await against({ "agent/list": () => ({ workers: [worker()] }) }, [
      "list",
    ]);
    expect(exit).toBe(0);
    expect(stderr).toBe("");
    expect(stdout.trimEnd().split("\n")).toHaveLength(1);
    expect(envelopeOf(stdout)).toMatchObject({
      ok: true,
      data: [{ id: ID, name: "fixer", pid: 4242 }],
      error: null,
      warnings: [],
    });
  });

  it("says why a message is not taken yet, and what lets it be", async () => {
    const answers = {
      "agent/send": () => ({ message_id: ID, state: "accepted", effect: "created" }),
      "agent/why": () => ({
        id: ID,
        name: "fixer",
        reason: "paused: its budget is spent: 1 turn",
        suggestion: "grant more, or end it: agent answer fixer continue|stop",
      }),
    };
    const { exit, stdout } = await against(answers, ["send", "fixer", "hi"]);
    expect({ exit, ...envelopeOf(stdout) }).toMatchObject({
      exit: 0,
      ok: true,
      warnings: [
        "fixer does not take it yet (paused: its budget is spent: 1 turn); grant more, or end it: agent answer fixer continue|stop",
      ],
    });
  });

  it("says the same beside a question that waits for its answer", async () => {
    let told = () => {};
    const asked = new Promise<void>((resolve) => {
      told = resolve;
    });
    const answers = {
      "agent/why": () => ({ id: ID, name: "fixer", reason: "paused: by hand", suggestion: "let it go on" }),
      "agent/approvals": () => ({ approvals: [] }),
      "agent/ask": async () => {
        await asked;
        return { id: ID, message_id: ID, turn: 1, text: "yes", truncated: false };
      },
    };
    const onStderr = (text: string): void => {
      if (text.includes("fixer does not take it yet (paused: by hand); let it go on")) told();
    };
    expect((await against(answers, ["ask", "fixer", "well?", "-o", "text"], { onStderr })).exit).toBe(0);
  });

  it("says where a list has more, and how to get it", async () => {
    const answers = {
      "agent/messages": (data: unknown) => ({
        messages: [],
        ...((data as { cursor?: string }).cursor === undefined ? { cursor: "17" } : {}),
      }),
    };
    const first = envelopeOf((await against(answers, ["messages", "x", "--limit", "5"])).stdout);
    expect(first).toMatchObject({ ok: true, data: [], meta: { truncated: true, cursor: "17" } });
    expect(first.warnings).toEqual([expect.stringContaining("agent messages x --limit 5 --cursor 17")]);
    const last = envelopeOf((await against(answers, ["messages", "x", "--cursor", "17"])).stdout);
    expect(last).toMatchObject({ ok: true, warnings: [] });
    expect(last.meta).not.toHaveProperty("truncated");
    expect((await against(answers, ["messages", "x", "--limit", "0"])).exit).toBe(3);
  });

  it("keeps of a page of approvals whose they are, and how many", async () => {
    const answers = { "agent/approvals": () => ({ approvals: [], cursor: "29" }) };
    const argv = ["approvals", "h 2", "--all", "--limit", "5"];
    expect(envelopeOf((await against(answers, argv)).stdout).warnings).toEqual([
      "There are more: agent approvals 'h 2' --all --limit 5 --cursor 29",
    ]);
    expect(envelopeOf((await against(answers, ["approvals", "list"])).stdout).warnings).toEqual([
      "There are more: agent approvals --cursor 29",
    ]);
  });

  it("is one record a line in a stream, then one ResponseEnvelope", async () => {
    const { stdout } = await against({ "agent/watch": watching }, ["watch", "fixer", "-o", "json"]);
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.slice(0, -1)).toEqual(lifecycle);
    expect(envelopeOf(stdout)).toMatchObject({ ok: true, data: { next: 6, records: 6 } });
  });

  it("has the daemon's error with its exit code", async () => {
    const refuse = () => {
      throw new HoldfastError("WORKER_NOT_FOUND", 'There is no worker "x".', { suggestion: "Look again." });
    };
    const { exit, stdout } = await against({ "agent/info": refuse }, ["info", "x"]);
    expect(exit).toBe(5);
    expect(envelopeOf(stdout)).toMatchObject({
      ok: false,
      data: null,
      error: { code: "WORKER_NOT_FOUND", retryable: false, suggestion: "Look again." },
    });
  });

  it("is the default without a terminal and in CI, and HOLDFAST_OUTPUT goes before it", async () => {
    const answers = { "agent/list": () => ({ workers: [] }) };
    const nobody = await against(answers, ["list"], { terminal: true });
    expect(nobody).toMatchObject({ stdout: "", stderr: expect.stringContaining("No workers are running.") });
    expect((await against(answers, ["list"], { terminal: true, env: { CI: "true" } })).stdout).toContain(
      '"ok":true',
    );
    expect((await against(answers, ["list"], { env: { HOLDFAST_OUTPUT: "text" } })).stdout).toBe("");
    expect(
      (await against(answers, ["list", "-o", "json"], { terminal: true, env: { HOLDFAST_OUTPUT: "text" } }))
        .stdout,
    ).toContain('"ok":true');
    expect((await against(answers, ["list"], { env: { HOLDFAST_OUTPUT: "xml" } })).exit).toBe(3);
  });
});

describe("ndjson", () => {
  it("is one terminal envelope for a one-shot command", async () => {
    const { stdout } = await against({ "agent/list": () => ({ workers: [worker()] }) }, [
      "list",
      "-o",
      "ndjson",
    ]);
    expect(stdout.trimEnd().split("\n")).toHaveLength(1);
    expect(EnvelopeV1.parse(JSON.parse(stdout))).toMatchObject({
      status: "ok",
      command: "agent/list",
      data: { workers: [{ id: ID }] },
    });
  });

  it("is progress from seq 0 and then exactly one terminal envelope for a stream", async () => {
    const { stdout } = await against({ "agent/watch": watching }, ["watch", "fixer", "-o", "ndjson"]);
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => EnvelopeV1.parse(JSON.parse(line)));
    expect(lines.map((line) => line.status)).toEqual([...lifecycle.map(() => "progress"), "ok"]);
    expect(lines.slice(0, -1).map((line) => (line.meta as { seq: number }).seq)).toEqual([0, 1, 2, 3, 4, 5]);
  });
});

describe("text", () => {
  it("has no colour without a terminal, and with NO_COLOR", async () => {
    const answers = { "agent/list": () => ({ workers: [worker()] }) };
    expect((await against(answers, ["list", "-o", "text"])).stdout).not.toContain("\x1b");
    expect(
      (await against(answers, ["list"], { terminal: true, env: { NO_COLOR: "1" } })).stdout,
    ).not.toContain("\x1b");
    expect((await against(answers, ["list", "--no-color"], { terminal: true })).stdout).not.toContain("\x1b");
    expect((await against(answers, ["list"], { terminal: true })).stdout).toContain("\x1b[32mrunning\x1b[0m");
  });

  it.each([
    [[], "Nobody waits for a permission. See answered ones with: agent approvals --all\n"],
    [["list", "--all"], "Nobody has asked for a permission yet.\n"],
    [["w3"], "Worker w3 waits for no permission. See answered ones with: agent approvals w3 --all\n"],
    [["w3", "--all"], "Worker w3 has asked for no permission yet.\n"],
  ])("says of no approvals of %j whose are none", async (more, told) => {
    const answers = { "agent/approvals": () => ({ approvals: [] }) };
    const options = { terminal: true, env: { NO_COLOR: "1" } };
    expect((await against(answers, ["approvals", ...more], options)).stderr).toBe(told);
  });

  it("passes an answer as it is to a file, and harmless to a terminal", async () => {
    const answers = {
      "agent/output": () => ({ id: ID, text: "a\x1b[31mb\n\n", truncated: false, omitted_bytes: 0 }),
    };
    expect((await against(answers, ["output", "x"])).stdout).toBe("a\x1b[31mb\n\n");
    expect((await against(answers, ["output", "x"], { env: { CI: "1" } })).stdout).toBe("a\x1b[31mb\n\n");
    expect((await against(answers, ["output", "x", "-o", "json"])).stdout).toContain('"text":"a');
    expect((await against(answers, ["output", "x"], { terminal: true })).stdout).toBe("ab\n\n");
  });

  it("tells of no records that follow where nobody knows the worker", async () => {
    const refuse = () => {
      throw new HoldfastError("WORKER_NOT_FOUND", 'No worker has the id or name "nope".');
    };
    const told = async (answers: Record<string, Answerer>) =>
      (await against(answers, ["watch", "nope"], { terminal: true, env: { NO_COLOR: "1" } })).stderr;
    expect(await told({ "agent/info": refuse, "agent/watch": refuse })).toMatch(/^error: No worker has/);
    await daemon?.close();
    daemon = undefined;
    const list = { "agent/list": () => ({ workers: [worker()] }) };
    expect(await told({ ...list, "agent/watch": watching })).toContain("New records follow here");
  });

  it("never passes an escape of an agent on in watch", async () => {
    const emit: Answerer = (_data, send) => {
      send(said("\x1b]0;owned\x07\x1b[2Jhello"));
      return watched(1, 1);
    };
    const { stdout } = await against(
      { "agent/watch": emit, "agent/list": () => ({ workers: [worker()] }) },
      ["watch", "fixer"],
      { terminal: true, env: { NO_COLOR: "1" } },
    );
    expect(stdout).toMatch(/fixer\.1 +│ hello\n$/);
    expect(stdout).not.toContain("\x1b");
  });

  it("breaks an error between words where stderr is a terminal", async () => {
    const options = { terminal: true, columns: 40, env: { NO_COLOR: "1" } };
    const { stderr } = await against({}, ["list", "--wait", "--until", "failed"], options);
    expect(stderr.split("\n")[0]).toBe("error: 2 mistakes; nothing was done");
    expect(stderr.split("\n").slice(1)).toContain("  agent list has no flag --wait.");
    for (const line of stderr.split("\n")) expect(line.length).toBeLessThanOrEqual(40);
  });

  it("writes errors to stderr alone, all mistakes of them", async () => {
    const { exit, stdout, stderr } = await against({}, [
      "spawn",
      "cluade",
      "--timeout",
      "x",
      "--wtch",
      "-o",
      "text",
    ]);
    expect({ exit, stdout }).toEqual({ exit: 3, stdout: "" });
    expect(stderr).toMatch(/3 mistakes; nothing was done\n.*--timeout.*\n.*--wtch.*\n.*cluade/);
    expect(daemon!.requests).toEqual([]);
  });

  it("says when daemon and client differ in version", async () => {
    const { writeDaemonFile } = await import("../../src/daemon/daemon-file.ts");
    daemon = await fakeDaemon({ "agent/list": () => ({ workers: [] }) });
    writeDaemonFile(daemon.stateDir, {
      pid: process.pid,
      version: "0.0.1",
      socket: "x",
      started_at: new Date().toISOString(),
    });
    expect((await against({}, ["list", "-o", "text"])).stderr).toContain(
      "The daemon is version 0.0.1 and this command is version",
    );
    expect(envelopeOf((await against({}, ["list"])).stdout).warnings).toHaveLength(1);
  });
});

describe("exit codes", () => {
  const results = (...statuses: string[]) => ({
    "agent/wait": () => ({
      results: statuses.map((status, index) => ({
        id: `${ID}${index}`,
        name: null,
        status,
        reason: "",
        exit_code: index + 7,
        signal: null,
        error: null,
      })),
    }),
    "agent/info": () => ({ ...worker(), id: `${ID}1` }),
  });

  it.each([
    [["completed"], 0, undefined],
    [["failed"], 1, "WORKER_FAILED"],
    [["cancelled"], 1, "WORKER_CANCELLED"],
    [["completed", "failed"], 2, "PARTIAL_FAILURE"],
  ])("wait of %j is %i", async (statuses, exit, code) => {
    const ran = await against(results(...statuses), ["wait", "a", "b"]);
    expect(ran.exit).toBe(exit);
    const { ok, error, meta } = envelopeOf(ran.stdout);
    expect({ ok, code: error?.code }).toEqual({ ok: exit === 0, code });
    if (error) expect(meta.partial).toMatchObject({ results: statuses.map((status) => ({ status })) });
  });

  it.each([3, 13])("wait --exit-code-from passes %i on, which is no code of ours then", async (exit_code) => {
    const result = { id: ID, name: null, status: "failed", reason: "", exit_code, signal: null, error: null };
    const answers = {
      "agent/wait": () => ({ results: [result] }),
      "agent/info": () => ({ ...worker(), id: ID }),
    };
    const ran = await against(answers, ["wait", "a", "--exit-code-from", "a"]);
    expect(ran.exit).toBe(exit_code);
    expect(envelopeOf(ran.stdout).error).toMatchObject({ code: "WORKER_FAILED" });
  });

  it("wait --exit-code-from passes the child's own code on", async () => {
    const ran = await against(results("completed", "failed"), ["wait", "a", "b", "--exit-code-from", "b"]);
    expect(ran.exit).toBe(8);
    expect(envelopeOf(ran.stdout).ok).toBe(false);
  });

  it("wait that runs out of time is 10", async () => {
    const late = () => {
      throw new HoldfastError("TIMEOUT", "Waited 1s.");
    };
    expect((await against({ "agent/wait": late }, ["wait", "a", "--timeout", "1s"])).exit).toBe(10);
  });

  it("kill over several ids, some failing, is 2 with each result", async () => {
    const answers: Record<string, Answerer> = {
      "agent/kill": () => {
        const value = {
          results: [
            { id: "a", name: null, ok: true, effect: "noop", status: "completed", error: null },
            {
              id: "b",
              name: null,
              ok: false,
              effect: "noop",
              status: null,
              error: { code: "WORKER_NOT_FOUND", message: "There is none." },
            },
          ],
        };
        return { ok: false, error: new HoldfastError("PARTIAL_FAILURE", "1 of 2 failed."), value };
      },
    };
    const ran = await against(answers, ["kill", "a", "b"]);
    expect(ran.exit).toBe(2);
    expect((envelopeOf(ran.stdout).meta.partial as { results: unknown }).results).toHaveLength(2);
    expect((await against(answers, ["kill", "a", "b", "-o", "text"])).stdout).toBe(
      "a  had already ended\nb  There is none.\n",
    );
  });

  it.each([
    ["restart", "updated", "restarting"],
    ["restart", "noop", "was restarted already"],
    ["restart", "would_update", "would be restarted"],
    ["pause", "would_update", "would be paused"],
    ["kill", "noop", "had already ended"],
  ])("%s with effect %s says: %s", async (word, effect, sentence) => {
    const results = [{ id: "a", name: "fixer", ok: true, effect, status: "running", error: null }];
    const ran = await against({ [`agent/${word}`]: () => ({ results }) }, [word, "fixer", "-o", "text"]);
    expect(ran).toMatchObject({ exit: 0, stdout: `fixer  ${sentence}\n` });
  });

  it("no daemon is 4, and says how to start one", async () => {
    const ran = await agent(["--state-dir", "/nonexistent/holdfast", "list"]);
    expect(ran.exit).toBe(4);
    expect(envelopeOf(ran.stdout).error).toMatchObject({
      code: "SUPERVISOR_DOWN",
      suggestion: expect.stringContaining("agent daemon start"),
    });
  });

  it("a missing prompt file is 3, and no stdin is 4", async () => {
    expect((await against({}, ["spawn", "claude", "--prompt-file", "/nonexistent"])).exit).toBe(3);
    const ran = await against({}, ["spawn", "claude", "-"]);
    expect(ran.exit).toBe(4);
    expect(envelopeOf(ran.stdout).error?.code).toBe("INPUT_REQUIRED");
  });

  it("help is 0, on stdout", async () => {
    expect(await agent(["spawn", "--help"])).toMatchObject({
      exit: 0,
      stderr: "",
      stdout: expect.stringContaining("agent spawn [KIND] [PROMPT] [flags] [-- ARGV…]"),
    });
    expect((await agent([])).exit).toBe(0);
  });
});

describe("commands", () => {
  it("spawn prints the id alone, and sends the prompt from stdin", async () => {
    const answers = {
      "agent/spawn": () => ({
        id: ID,
        name: null,
        kind: "claude_code",
        status: "starting",
        effect: "created",
      }),
    };
    const ran = await against(answers, ["spawn", "claude", "-", "-o", "text"], { stdin: "fix it\n" });
    expect(ran).toMatchObject({ exit: 0, stdout: `${ID}\n`, stderr: "" });
    expect(daemon!.requests[0]).toMatchObject({
      command: "agent/spawn",
      data: { spec: { kind: "claude_code", prompt: "fix it\n" } },
    });
  });

  it("spawn --watch shows the records and ends as wait does", async () => {
    const answers: Record<string, Answerer> = {
      "agent/spawn": () => ({
        id: ID,
        name: "fixer",
        kind: "command",
        status: "starting",
        effect: "created",
      }),
      "agent/watch": watching,
      "agent/wait": () => ({
        results: [
          { id: ID, name: "fixer", status: "failed", reason: "", exit_code: 3, signal: null, error: null },
        ],
      }),
    };
    const ran = await against(answers, ["spawn", "--watch", "--", "false"]);
    expect(ran.exit).toBe(1);
    expect(ran.stdout.trimEnd().split("\n")).toHaveLength(lifecycle.length + 1);
    expect(daemon!.requests[2]).toMatchObject({
      command: "agent/watch",
      data: { ids: [ID], from: 0, follow: false },
    });
  });

  it("logs without -f asks for the records up to the newest one of now", async () => {
    const answers = { "agent/info": () => ({ ...worker(), last_seq: 6 }), "agent/watch": watching };
    const ran = await against(answers, ["logs", "fixer", "-o", "json"]);
    expect(ran.stdout.trimEnd().split("\n")).toHaveLength(lifecycle.length + 1);
    const asked = (): object => daemon!.requests.at(-1)!.data;
    expect(asked()).toMatchObject({ ids: [ID], from: 0, until: 6, follow: false });
    await against(answers, ["logs", "fixer", "-f", "--since", "1m", "-o", "json"]);
    // The place of that age is asked for first, so that a connection that is made again begins there, too.
    const { since_ms, ...place } = daemon!.requests.at(-2)!.data as { readonly since_ms: number };
    expect(place).toEqual({ all: true, until: 0 });
    expect(since_ms).toBeGreaterThanOrEqual(60_000);
    expect(asked()).toEqual({ ids: [ID], from: "0123456789abcdef:6", follow: false });
  });

  it("logs --tail counts what a person sees in text, and records in JSON", async () => {
    const answers: Record<string, Answerer> = {
      "agent/info": () => ({ ...worker(), last_seq: 6 }),
      "agent/watch": ({ tail }, emit) => {
        for (const record of lifecycle.slice(-(tail as number))) emit(record);
        return watched(6, 6);
      },
    };
    const lines = async (mode: string) =>
      (await against(answers, ["logs", "fixer", "--tail", "5", "-o", mode])).stdout.trimEnd().split("\n");
    // The first of the six says nothing to a person.
    expect(await lines("text")).toHaveLength(5);
    expect((await lines("json")).slice(0, -1).map((line) => JSON.parse(line).seq)).toEqual([2, 3, 4, 5, 6]);
  });

  it("logs --raw gives the bytes as they are", async () => {
    const bytes = Buffer.from("one\n\x1b[31mtwo");
    const answers: Record<string, Answerer> = {
      "agent/raw": ({ offset }) => {
        const part = bytes.subarray(offset as number, (offset as number) + 5);
        const next = (offset as number) + part.length;
        return { base64: part.toString("base64"), next, ended: true, incarnation: 1, newest: 1 };
      },
    };
    expect((await against(answers, ["logs", "x", "--raw"])).stdout).toBe("one\n\x1b[31mtwo");
    expect(
      envelopeOf((await against(answers, ["logs", "x", "--raw", "-o", "json"])).stdout).data,
    ).toMatchObject({
      base64: bytes.toString("base64"),
      truncated: false,
    });
  });

  it("logs --raw says what of the bytes is not kept, and goes on behind it", async () => {
    const answers: Record<string, Answerer> = {
      "agent/raw": ({ offset }) => ({
        ...(offset === 0
          ? { base64: "", next: 9000, released: 9000 }
          : { base64: offset === 9000 ? "bGF0ZXI=" : "", next: 9005 }),
        ended: true,
        incarnation: 1,
        newest: 1,
      }),
    };
    const ran = await against(answers, ["logs", "x", "--raw"]);
    expect(ran.stdout).toBe("later");
    expect(ran.stderr).toContain("9000 bytes of its stdout are no longer kept raw");
    expect(
      envelopeOf((await against(answers, ["logs", "x", "--raw", "-o", "json"])).stdout).data,
    ).toMatchObject({
      base64: "bGF0ZXI=",
      bytes: 5,
      released: 9000,
    });
  });

  it("logs --raw -f goes on with the bytes of the next incarnation, from their beginning", async () => {
    const written = ["", "the first, which is longer\n", "second\n"].map((text) => Buffer.from(text));
    const answers: Record<string, Answerer> = {
      "agent/raw": (asked) => {
        const { offset, incarnation = 1 } = asked as { offset: number; incarnation?: number };
        const part = written[incarnation]!.subarray(offset);
        return {
          base64: part.toString("base64"),
          next: offset + part.length,
          ended: true,
          incarnation,
          newest: 2,
        };
      },
    };
    expect((await against(answers, ["logs", "x", "--raw", "-f"])).stdout).toBe(written.join(""));
  });

  it("watch --kinds asks for record types and for kinds of agent events", async () => {
    await against({ "agent/watch": watching }, ["watch", "fixer", "--kinds", "worker_exited,TextOutput"]);
    expect(daemon!.requests.at(-1)).toMatchObject({
      command: "agent/watch",
      data: { types: ["worker_exited"], kinds: ["TextOutput"] },
    });
    expect((await against({}, ["watch", "--kinds", "worker_exitd"])).stdout).toContain(
      "did you mean worker_exited?",
    );
  });

  it("completes commands, flags, values and living workers", async () => {
    daemon = await fakeDaemon({ "agent/list": () => ({ workers: [worker()] }) });
    const complete = async (...words: string[]) => {
      const { stdout } = await agent(["__complete", ...words], { env: { HOLDFAST_HOME: daemon!.stateDir } });
      return stdout
        .split("\n")
        .filter(Boolean)
        .map((line) => line.split("\t")[0]);
    };
    expect(await complete("sp")).toEqual(["spawn", "spawn-many"]);
    expect(await complete("daemon", "st")).toEqual(["start", "stop", "status"]);
    expect(await complete("spawn", "--max-r")).toEqual(["--max-restarts"]);
    expect(await complete("spawn", "--restart", "t")).toEqual(["transient", "temporary"]);
    expect(await complete("spawn", "cl")).toEqual(["claude"]);
    expect(await complete("kill", "f")).toEqual(["fixer"]);
    expect(await complete("kill", "")).toEqual(["fixer"]);
    expect(daemon!.requests.at(-1)!.data).toEqual({ all: false });
    expect(await complete("kill", "01")).toEqual([ID]);
    expect(await complete("kill", "fixer", "")).toEqual([]);
    expect(await complete("wait", "--exit-code-from", "f")).toEqual(["fixer"]);
    expect(await complete("list", "--output", "=", "nd")).toEqual(["ndjson"]);
    expect(await complete("help", "daemon", "sta")).toEqual(["start", "status"]);
  });

  it("prints a completion script also where stdout is no terminal", async () => {
    expect((await agent(["completion", "bash"])).stdout).toContain("complete -o default -F _agent agent");
    expect(envelopeOf((await agent(["completion", "bash", "-o", "json"])).stdout).data).toHaveProperty(
      "text",
    );
  });

  it("prints the schemas of a command", async () => {
    const { stdout } = await agent(["kill", "--schema"]);
    expect(JSON.parse(stdout)).toMatchObject({
      command: "kill",
      input: { properties: { ids: expect.anything() } },
      output: { properties: { results: expect.anything() } },
      error_codes: expect.arrayContaining(["WORKER_NOT_FOUND", "SUPERVISOR_DOWN"]),
    });
    expect(JSON.parse(stdout).error_codes).not.toContain("TIMEOUT");
  });

  it("doctor finds that a state directory cannot be written", async () => {
    const ran = await agent(["doctor", "--state-dir", "/proc/holdfast"]);
    expect(ran.exit).toBe(4);
    expect(envelopeOf(ran.stdout).error?.code).toBe("DOCTOR_CHECKS_FAILED");
  });
});
