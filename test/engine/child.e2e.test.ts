/** Kind `llm` as people run it: real daemon, real child, a script in the place of the model. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Commands, makeCommands, until } from "../cli/support/commands.ts";
import { type MakePlace, placeOf } from "./places.ts";

let commands: Commands;
beforeAll(() => {
  commands = makeCommands();
});
afterAll(() => commands.close());

const makePlace: MakePlace = (...script) => placeOf(commands, ...script);

const pay = { id: "pay-1", name: "pay" };
const ledgered = { name: "pay", ledger: "ledger" };
const openApprovals = async (id: string) =>
  ((await commands.agent("approvals", id)).data as unknown as readonly object[]).length;
const outputOf = async (id: unknown) => (await commands.agent("output", String(id))).data.text;

describe("one prompt", () => {
  it("is answered after its calls, with the usage of all steps", async () => {
    const { spawn, ledger } = makePlace(
      [
        { text: "I pay.", calls: [pay], usage: { input_tokens: 10, output_tokens: 2 } },
        { text: "Paid.", usage: { input_tokens: 20, cached_tokens: 5, output_tokens: 3 } },
      ],
      [ledgered],
    );
    const done = await spawn("Pay.", "--wait");
    expect(done.data).toMatchObject({ status: "completed" });
    expect(await outputOf(done.data.id)).toBe("Paid.");
    expect(ledger()).toEqual(["pay-1"]);
    const { data } = await commands.agent("info", String(done.data.id));
    expect(data).toMatchObject({
      turns: 1,
      tool_calls: 1,
      usage: { input_tokens: 30, cached_tokens: 5, output_tokens: 5 },
    });
  });

  it("goes on after a crash in a tool: the call is not repeated, and each step is counted once", async () => {
    const { dir, spawn, ledger } = makePlace(
      [
        { calls: [pay], usage: { input_tokens: 10 } },
        { text: "Perhaps paid.", usage: { input_tokens: 100 } },
      ],
      [ledgered],
    );
    const done = await spawn(
      "Pay.",
      "--wait",
      "--env",
      `HOLDFAST_ENGINE_CRASH_AT=called:1:${join(dir, "died")}`,
    );
    expect(done.data).toMatchObject({ status: "completed" });
    const { data } = await commands.agent("info", String(done.data.id));
    expect(data).toMatchObject({ incarnation: 2 });
    expect(ledger()).toEqual(["pay-1"]);
    const { data: used } = await commands.agent("usage", String(done.data.id));
    expect(used).toMatchObject({ total: { input_tokens: 110 } });
  });

  it("holds its answer to a schema", async () => {
    const { dir, spawn } = makePlace([{ text: "seven" }, { text: '{"n":7}' }]);
    const file = join(dir, "schema.json");
    writeFileSync(
      file,
      JSON.stringify({ type: "object", required: ["n"], properties: { n: { type: "integer" } } }),
    );
    const done = await spawn("How many?", "--wait", "--output-schema", file);
    expect(await outputOf(done.data.id)).toBe('{"n":7}');
  });

  it.each([
    ["overloaded", "PROVIDER_ERROR"],
    ["auth", "TOKEN_MISSING"],
    ["context_overflow", "PROVIDER_BAD_REQUEST"],
    ["no_such_model", "PROVIDER_BAD_REQUEST"],
  ])("fails by its model with %s as %s", async (kind, code) => {
    // The script has no further answer, and so a try after the first one ends the turn too.
    const { spawn } = makePlace([{ error: { kind, retry_after_ms: 100_000 } }]);
    const done = await spawn("Go.", "--wait", "--restart", "temporary");
    expect(done.error?.code).toBe(code);
  });
});

describe("a conversation", () => {
  it("asks, answers, is branched and continued, and ends with its input", async () => {
    const { spawn, ledger } = makePlace(
      [{ calls: [pay] }, { text: "Paid." }, { text: "Second." }, { text: "Third." }],
      [{ ...ledgered, decision: "ask" }],
    );
    const begun = await spawn("Pay.", "-i", "--permission", "ask");
    const id = String(begun.data.id);
    await until(async () => (await openApprovals(id)) === 1);
    await commands.agent("approvals", "approve", id);
    const asked = await commands.agent("ask", id, "And then?");
    expect(asked.data).toMatchObject({ text: "Second." });
    expect(ledger()).toEqual(["pay-1"]);
    await commands.agent("send", id, "--close");
    expect((await commands.agent("wait", id)).data).toMatchObject({ results: [{ status: "completed" }] });
    const session = String((await commands.agent("info", id)).data.session_id);
    const again = await spawn("And now?", "--session", session, "--wait");
    expect(await outputOf(again.data.id)).toBe("Third.");
    const branch = await spawn("Or so?", "--session", session, "--fork", "--wait");
    expect(branch.error?.code, "its script is over: the branch has all answers").toBe("PROVIDER_BAD_REQUEST");
  });

  it("is interrupted by a cancel, and goes on with the next message", async () => {
    const { spawn } = makePlace([{ calls: [pay] }, { text: "Second." }], [{ ...ledgered, decision: "ask" }]);
    const begun = await spawn("Pay.", "-i", "--permission", "ask");
    const id = String(begun.data.id);
    await until(async () => (await openApprovals(id)) === 1);
    await commands.agent("cancel", id);
    await until(async () => (await openApprovals(id)) === 0);
    expect((await commands.agent("ask", id, "Leave it.")).data).toMatchObject({ text: "Second." });
    expect((await commands.agent("kill", id)).data, "TERM was enough").not.toMatchObject({
      signal: "SIGKILL",
    });
  });
});

describe("a mistake", () => {
  it("in the model is told before a daemon is asked", async () => {
    const none = await commands.agent("spawn", "llm", "hi");
    expect(none.error).toMatchObject({ code: "INVALID_REQUEST", message: expect.stringMatching(/--model/) });
    const bare = await commands.agent("spawn", "llm", "hi", "--model", "gpt");
    expect(bare.error?.message).toMatch(/openai\/gpt/);
  });

  it("in the session, or in the provider, ends the worker with its code", async () => {
    const { spawn } = makePlace([{ text: "x" }]);
    const lost = await spawn("hi", "--session", "nowhere", "--wait");
    expect(lost.error?.code).toBe("SESSION_NOT_FOUND");
    const unknown = await commands.agent("spawn", "llm", "hi", "--model", "nobody/m", "--wait");
    expect(unknown.error?.code).toBe("PROVIDER_BAD_REQUEST");
  });
});
