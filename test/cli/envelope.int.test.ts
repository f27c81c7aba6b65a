/** The ResponseEnvelope beyond one success and one failure: pages, etags, redirects, generations, signs of life. */
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { EnvelopeV1, ResponseEnvelope, ResponseEnvelopeG2 } from "../../src/protocol/envelope-schemas.ts";
import { HoldfastError } from "../../src/protocol/errors.ts";
import { type AgentOptions, agent } from "./support/agent.ts";
import { type Answerer, type FakeDaemon, fakeDaemon } from "./support/fake-daemon.ts";
import { ID, said, watched, worker } from "./support/samples.ts";

let daemon: FakeDaemon | undefined;
beforeAll(() => void process.setMaxListeners(0));
afterEach(async () => {
  await daemon?.close();
  daemon = undefined;
});

const against = async (answers: Record<string, Answerer>, argv: string[], options: AgentOptions = {}) => {
  daemon ??= await fakeDaemon(answers);
  const ran = await agent(["--state-dir", daemon.stateDir, ...argv], options);
  return { ...ran, lines: ran.stdout.trimEnd().split("\n") };
};
const told = (stdout: string) => ResponseEnvelope.parse(JSON.parse(stdout.trimEnd().split("\n").at(-1)!));

describe("a page", () => {
  const page: Answerer = () => ({ workers: [worker()], total: 3, cursor: ID });

  it("says that more follow, and by which cursor", async () => {
    const { stdout, exit } = await against({ "agent/list": page }, ["list", "--limit", "1"]);
    expect(exit).toBe(0);
    expect(told(stdout)).toMatchObject({ data: [{ id: ID }], meta: { truncated: true, cursor: ID } });
    expect(daemon!.requests.at(-1)!.data).toEqual({ all: false, limit: 1 });
    await against({}, ["list", "--limit", "1", "--cursor", ID]);
    expect(daemon!.requests.at(-1)!.data).toMatchObject({ cursor: ID });
  });

  it("that nobody asked for has a warning with the next command; all of them is asked for with 0", async () => {
    const { stdout } = await against({ "agent/list": page }, ["list", "--all"]);
    expect(told(stdout).warnings.join()).toContain(`agent list --all --limit 5000 --cursor ${ID}`);
    await against({}, ["list", "--limit", "0"]);
    expect(daemon!.requests.at(-1)!.data).toEqual({ all: false });
  });

  it("that is the last one says nothing of it", async () => {
    const { stdout } = await against({ "agent/list": () => ({ workers: [worker()], total: 1 }) }, ["list"]);
    expect(told(stdout).meta).not.toHaveProperty("truncated");
    expect(told(stdout).meta).not.toHaveProperty("cursor");
  });
});

describe("help and schemas", () => {
  it.each([
    [["--help"], "text"],
    [["daemon"], "text"],
    [["spawn", "--help"], "text"],
    [["spawn", "--schema"], "output"],
  ] as const)("%j are an envelope where one is asked for, and plain elsewhere", async (argv, member) => {
    expect(told((await agent([...argv, "-o", "json"])).stdout).data).toHaveProperty(member);
    const line = (await agent([...argv, "-o", "ndjson"])).stdout;
    expect(EnvelopeV1.parse(JSON.parse(line)).data).toHaveProperty(member);
    expect((await agent(argv)).stdout).not.toContain('"request_id"');
  });
});

describe("an answer that is cut", () => {
  it.each<[string, string[], Answerer]>([
    [
      "agent/output",
      ["output", "a", "-o", "json"],
      () => ({ id: ID, text: "x", truncated: true, omitted_bytes: 9 }),
    ],
    [
      "agent/why",
      ["why", "a"],
      () => ({
        id: ID,
        name: null,
        type: "worker",
        state: "running",
        reason: "",
        suggestion: null,
        records: [],
        omitted: 4,
        names: {},
      }),
    ],
  ])("of %s says so in meta", async (command, argv, answer) => {
    expect(told((await against({ [command]: answer }, argv)).stdout).meta).toMatchObject({ truncated: true });
  });
});

describe("the manifest", () => {
  it("is not told again to whoever has its etag", async () => {
    const first = told((await agent(["manifest"])).stdout);
    const { etag } = first.data as { etag: string };
    const { exit, stdout } = await agent(["manifest", "--etag", etag]);
    expect(exit).toBe(0);
    expect(told(stdout)).toMatchObject({ ok: true, data: null, error: null, meta: { not_modified: true } });
    expect(told((await agent(["manifest", "--etag", "old"])).stdout).data).toMatchObject({ etag });
  });

  it("comes from the cache in ndjson where its etag is told, and from a run where it is not", async () => {
    const { etag } = told((await agent(["manifest"])).stdout).data as { etag: string };
    const hit = JSON.parse((await agent(["-o", "ndjson", "manifest", "--etag", etag])).stdout);
    expect(hit).toMatchObject({
      data: { not_modified: true, etag },
      meta: { source: "cache", cache_key: etag },
    });
    const run = JSON.parse((await agent(["-o", "ndjson", "version"])).stdout);
    expect(run.meta).toMatchObject({ source: "run" });
    expect(run.meta).not.toHaveProperty("cache_key");
  });

  it("has another etag, and other exit codes, in another generation", async () => {
    const { data } = JSON.parse((await agent(["manifest", "--envelope", "g2"])).stdout);
    expect(data.commands.list.exit_codes).toMatchObject({ 2: { name: "ARG_ERROR", retryable: false } });
    const { data: first } = JSON.parse((await agent(["manifest"])).stdout);
    expect(first.commands.list.exit_codes).toMatchObject({ 3: { name: "ARG_ERROR", retryable: true } });
    expect(data.etag).not.toBe(first.etag);
  });
});

describe("a command of another name", () => {
  it.each([
    [["rm", "k2"], "agent kill ID"],
    [["delete", "k2"], "agent kill ID"],
    [["exec", "k2", "ls"], "agent spawn -- PROGRAM"],
  ])("%j does something else elsewhere: it is no redirect, and says what to do", async (argv, next) => {
    const { exit, stdout } = await agent(argv);
    expect(exit).toBe(3);
    expect(told(stdout).error).toMatchObject({ code: "UNKNOWN_COMMAND" });
    expect(told(stdout).error).not.toHaveProperty("redirect");
    expect(told(stdout).error?.suggestion).toContain(next);
  });

  it("runs skills alone with run, and says what runs a program", async () => {
    const { exit, stdout } = await agent(["run", "ls"]);
    expect(exit).toBe(3);
    expect(told(stdout).error?.message).toBe(
      'A skill is called NAMESPACE/VERB in a-z, 0-9 and hyphens, not "ls"; programs run with agent spawn.',
    );
  });

  it.each([
    [["ls", "-q"], "agent list -q", true, "renamed"],
    [["-o", "json", "stop", "fixer"], "agent -o json kill fixer", true, "renamed"],
    [["db", "verify"], "agent db check", true, "renamed"],
    [["approve", "k2"], "agent approvals approve k2", true, "renamed"],
    [["deny", "k2", "--reason", "no"], "agent approvals deny k2 --reason no", true, "renamed"],
    [["daemon", "restart"], "agent daemon upgrade --force", true, "renamed"],
    [["cost"], "agent usage", true, "renamed"],
    [["status"], "agent daemon status", true, "renamed"],
    [["status", "k2"], "agent info k2", true, "renamed"],
    [["spwan", "-l", "k=a b", "--", "true"], "agent spawn -l 'k=a b' -- true", false, "typo_corrected"],
    [["daemon", "strat"], "agent daemon start", false, "typo_corrected"],
    [["approvals", "approv", "k2"], "agent approvals approve k2", false, "typo_corrected"],
  ] as const)("%j is redirected to %s", async (argv, command, permanent, reason) => {
    const { exit, stdout } = await agent(argv);
    expect(exit).toBe(13);
    expect(told(stdout).error).toMatchObject({
      retryable: true,
      phase: "validation",
      redirect: { command, permanent, reason },
    });
    const v1 = EnvelopeV1.parse(JSON.parse((await agent(["-o", "ndjson", ...argv])).stdout));
    expect(v1.error.details).toMatchObject({ redirect: { permanent, reason } });
  });

  it.each([
    // Too short, or more than one edit, or two that are near.
    [["kil", "fixer"]],
    [["lits"]],
    [["satrt"]],
    // It would destroy something.
    [["killl", "fixer"]],
    // The call would be wrong all the same.
    [["spwan"]],
    [["lgos"]],
  ])("%j is not certain, and refused with a suggestion at most", async (argv) => {
    const { exit, stdout } = await agent(argv);
    expect(exit === 3 || argv[0] === "lits").toBe(true);
    if (exit === 3)
      expect(told(stdout).error).toMatchObject({ code: "UNKNOWN_COMMAND", phase: "validation" });
  });
});

describe("a call that holds a secret", () => {
  it.each([
    [["spawm", "-e", "API_KEY=abcdefgh1234", "--", "true"], "agent spawn -e 'API_KEY=***' -- true"],
    [
      ["spawm", "--", "curl", "-H", "Authorization: Bearer abcdefgh1234"],
      "agent spawn -- curl -H 'Authorization: Bearer ***'",
    ],
    [["spawm", "--", "curl", "http://u:pass@h/"], "agent spawn -- curl 'http://u:***@h/'"],
    [["apply", "--var", "API_KEY=abcdefgh1234"], "agent up --var 'API_KEY=***'"],
  ])("%j is not redirected: what is masked cannot be run word for word", async (argv, line) => {
    for (const mode of ["json", "ndjson", "text"]) {
      const { exit, stdout, stderr } = await agent(["-o", mode, ...argv]);
      expect(exit).toBe(3);
      expect(stdout + stderr).not.toMatch(/abcdefgh|pass@|"redirect"/);
      expect((stdout + stderr).replaceAll("'", "")).toContain(
        `with what *** stands for: ${line.replace("agent", `agent -o ${mode}`).replaceAll("'", "")}`,
      );
    }
    expect(told((await agent(argv)).stdout).error).toMatchObject({
      code: "UNKNOWN_COMMAND",
      phase: "validation",
    });
  });
});

describe("a suggestion", () => {
  it.each([
    [["kil", "rev2"], "Run: agent kill rev2"],
    [["killl", "a b"], "Run: agent kill 'a b'"],
    [["daemon", "stat", "-q"], "Run: agent daemon status -q"],
    [["help", "lst"], "Run: agent help list"],
    [["lst", "--help"], "Run: agent list --help"],
    [["nonsense", "x"], "See all commands with: agent --help"],
  ])("for %j is the whole call: %s", async (argv, suggestion) => {
    expect(told((await agent(argv)).stdout).error).toMatchObject({ code: "UNKNOWN_COMMAND", suggestion });
  });
});

describe("generation g2", () => {
  const g2 = async (argv: string[], env: Record<string, string> = {}) => {
    const { exit, stdout } = await agent(argv, { env });
    return { exit, error: ResponseEnvelopeG2.parse(JSON.parse(stdout)).error };
  };

  it("has its own exit codes and members of errors, by flag or variable", async () => {
    const expected = { exit: 2, error: { code: "INVALID_REQUEST", retryable: false } };
    expect(await g2(["list", "--nope", "--envelope", "g2"])).toMatchObject(expected);
    expect(await g2(["list", "--nope"], { HOLDFAST_ENVELOPE: "g2" })).toMatchObject(expected);
    expect(await g2(["list", "--state-dir", "/nonexistent/holdfast", "--envelope", "g2"])).toMatchObject({
      exit: 4,
      error: { code: "SUPERVISOR_DOWN", fix_command: "agent daemon start" },
    });
  });

  it("of a partial failure is 3", async () => {
    const failing: Answerer = () => ({
      ok: false,
      error: new HoldfastError("PARTIAL_FAILURE", "1 of 2 failed."),
    });
    const { exit } = await against({ "agent/kill": failing }, ["kill", "a", "b", "--envelope", "g2"]);
    expect(exit).toBe(3);
  });

  it("that does not exist is refused", async () => {
    expect((await agent(["list", "--envelope", "g3"])).exit).toBe(3);
    expect((await agent(["list"], { env: { HOLDFAST_ENVELOPE: "g3" } })).exit).toBe(3);
  });
});

describe("a sign of life", () => {
  /** Answers once the test has seen what it waits for. */
  const slow =
    (seen: () => boolean): Answerer =>
    async (_data, emit) => {
      while (!seen()) await new Promise((resolve) => setTimeout(resolve, 2));
      emit(said("hi\n"));
      return { ...watched(1, 1), results: [] };
    };

  it("is a line of a stream in json and in ndjson, before and not among its records' seqs", async () => {
    let out = "";
    const onStdout = (text: string) => {
      out += text;
    };
    const seen = () => out.split("heartbeat").length > 2;
    const { lines } = await against({ "agent/watch": slow(seen) }, ["watch", "a", "--heartbeat-ms", "5"], {
      onStdout,
    });
    const beat = JSON.parse(lines[0]!);
    expect(beat).toEqual({ status: "running", heartbeat: true, elapsed_ms: expect.any(Number) });
    expect(JSON.parse(lines.at(-2)!)).toMatchObject({ type: "agent.event" });
    out = "";
    const v1 = await against({}, ["watch", "a", "--heartbeat-ms", "5", "-o", "ndjson"], { onStdout });
    const envelopes = v1.lines.map((line) => EnvelopeV1.parse(JSON.parse(line)));
    expect(envelopes[0]).toMatchObject({ status: "progress", data: { heartbeat: true }, meta: { seq: 0 } });
    expect(envelopes.at(-1)!.status).toBe("ok");
  });

  it("of a command that prints one envelope is a line on stderr", async () => {
    let err = "";
    const onStderr = (text: string) => {
      err += text;
    };
    const { stdout, stderr } = await against(
      { "agent/wait": slow(() => err !== "") },
      ["wait", "a", "--heartbeat-ms", "5"],
      { onStderr },
    );
    expect(stdout.trimEnd().split("\n")).toHaveLength(1);
    expect(stderr).toMatch(/^\[0s\] waiting for a\n/);
  });

  it("is not given where 0 asks for none", async () => {
    let asked = 0;
    const { lines } = await against({ "agent/watch": slow(() => ++asked > 20) }, [
      "watch",
      "a",
      "--heartbeat-ms",
      "0",
    ]);
    expect(lines).toHaveLength(2);
  });
});
