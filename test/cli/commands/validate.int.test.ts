/** `agent proto validate` and `agent event validate`, as a user calls them: no daemon, a file or a pipe. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { okEnvelope } from "../../../src/protocol/envelope-v1.ts";
import { agent } from "../support/agent.ts";

const directory = mkdtempSync(join(tmpdir(), "holdfast-validate-"));
beforeAll(() => void process.setMaxListeners(0));
afterAll(() => rmSync(directory, { recursive: true }));

const ok = okEnvelope(
  { command: "agent/list", profiles: [] },
  { now_ms: 0, duration_ms: 1 },
  { workers: [] },
);
const error = { code: null, message: null };
const progress = (seq: number, data = {}) => ({
  ...ok,
  status: "progress",
  data,
  meta: { ...ok.meta, seq },
  error,
});
const text = (...values: readonly unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join("");

const validate = async (stdin: string, flags: readonly string[] = []) => {
  const ran = await agent(["proto", "validate", ...flags, "-o", "json"], { stdin });
  const envelope = JSON.parse(ran.stdout);
  const detail = envelope.meta.details ?? {};
  const rules = (detail.findings ?? []).map(({ rule }: { rule: string }) => rule);
  return { ...ran, envelope, detail, rules };
};

describe("agent proto validate", () => {
  it("says what was valid, by the rules of the document where nothing else is asked for", async () => {
    const { exit, envelope } = await validate(text(ok));
    expect(exit).toBe(0);
    expect(envelope.data).toEqual({
      valid: true,
      input: "-",
      level: "spec",
      strict: false,
      stream: false,
      command: "agent/list",
      status: "ok",
    });
  });

  it("tells of each finding its rule, its place and the remedy, with exit code 3", async () => {
    const bad = JSON.stringify(
      { ...ok, command: "foxctl.list", meta: { ...ok.meta, duration_ms: -1 } },
      null,
      2,
    );
    const { exit, envelope, detail } = await validate(bad);
    expect(exit).toBe(3);
    expect(envelope.error).toMatchObject({ code: "ENVELOPE_INVALID", phase: "validation" });
    expect(detail).toMatchObject({ valid: false, level: "spec", omitted: 0 });
    expect(detail.findings).toEqual([
      {
        rule: "command",
        place: { pointer: "/command", line: 4 },
        message: 'command is "foxctl.list".',
        remedy: expect.stringContaining("namespace/verb"),
      },
      {
        rule: "meta.duration_ms",
        place: { pointer: "/meta/duration_ms", line: 10 },
        message: "meta.duration_ms is -1.",
        remedy: expect.any(String),
      },
    ]);
    expect((await validate(bad, ["--level", "wire"])).exit).toBe(0);
  });

  it("is EENVELOPE in Protocol v1, with the findings in its details", async () => {
    const { stdout } = await agent(["proto", "validate", "-o", "ndjson"], {
      stdin: text({ ...ok, version: 2 }),
    });
    expect(JSON.parse(stdout)).toMatchObject({
      status: "error",
      command: "proto/validate",
      error: { code: "EENVELOPE", details: { findings: [{ rule: "version" }] } },
    });
  });

  it("in text has a line for each finding", async () => {
    const { exit, stdout, stderr } = await agent(["proto", "validate", "-o", "text"], { stdin: "{}" });
    expect({ exit, stdout }).toEqual({ exit: 3, stdout: "" });
    expect(stderr).toMatch(
      /\n {2}Line 1, \/version \(version\): version is missing, not 1\. Write version: 1/,
    );
    expect(stderr).toMatch(/error: \d+ findings\n/);
    const fine = await agent(["proto", "validate", "-o", "text"], { stdin: text(ok) });
    expect(fine.stdout).toBe("valid  stdin, by spec\n");
  });

  it("reads a file, and the first value of it alone unless it is strict", async () => {
    const input = join(directory, "two.json");
    writeFileSync(input, text(ok, { added: 1 }));
    expect((await validate("", ["--input", input])).envelope.data).toMatchObject({ valid: true, input });
    expect((await validate("", ["--input", input, "--strict"])).rules).toEqual(["json.trailing"]);
    expect((await validate(text({ ...ok, added: 1 }), ["--strict"])).rules).toEqual(["unknown"]);
  });

  it("checks the lines of a stream against each other", async () => {
    const good = text(progress(0, { pct: 10 }), progress(1, { pct: 10 }), ok);
    expect((await validate(good, ["--stream"])).envelope.data).toMatchObject({ valid: true, lines: 3 });
    const bad = text(progress(1, { pct: 20 }), progress(1, { pct: 10 }), ok, ok);
    const { detail } = await validate(bad, ["--stream"]);
    expect(
      detail.findings.map(({ rule, place }: { rule: string; place: { line: number } }) => [place.line, rule]),
    ).toEqual([
      [1, "stream.first"],
      [2, "stream.seq"],
      [2, "stream.pct"],
      [4, "stream.after"],
    ]);
    expect((await validate(text(progress(0)), ["--stream"])).rules).toEqual(["stream.terminal"]);
    expect((await validate("", ["--stream"])).rules).toEqual(["stream.terminal"]);
    expect((await validate(text(ok).trimEnd(), ["--stream"])).exit).toBe(0);
  });

  it("never waits for a terminal, and says what is wrong with a file", async () => {
    const terminal = await agent(["proto", "validate", "-o", "json"]);
    expect(terminal.exit).toBe(4);
    expect(JSON.parse(terminal.stdout).error).toMatchObject({
      code: "INPUT_REQUIRED",
      message: "Nothing is piped to stdin.",
      suggestion: expect.stringContaining("agent proto validate --input F"),
    });
    for (const [path, why] of [
      ["none.json", "does not exist"],
      [".", "is a directory"],
    ] as const) {
      const { exit, envelope } = await validate("", ["--input", join(directory, path)]);
      expect(exit).toBe(3);
      expect(envelope.error.message).toContain(why);
    }
    expect((await validate("")).rules).toEqual(["json.empty"]);
  });

  it("keeps the first findings and counts the rest", async () => {
    const { detail } = await validate(
      text(...Array.from({ length: 90 }, () => ({ ...ok, version: 2, status: "no" }))),
      ["--stream"],
    );
    expect(detail).toMatchObject({ lines: 90, omitted: 81 });
    expect(detail.findings).toHaveLength(100);
  });
});

describe("agent event validate", () => {
  const event = { agent_kind: "codex", kind: "TextOutput", text: "hi" };
  const events = async (stdin: string, flags: readonly string[] = []) => {
    const { exit, stdout } = await agent(["event", "validate", ...flags, "-o", "json"], { stdin });
    const { data, meta } = JSON.parse(stdout);
    return { exit, data, findings: meta.details?.findings ?? [] };
  };

  it("counts the lines that are valid AgentEvents", async () => {
    expect(await events(text(event, event))).toMatchObject({
      exit: 0,
      data: { valid: true, input: "-", strict: false, lines: 2 },
    });
  });

  it("tells of each line that is none what is wrong with it", async () => {
    const { exit, findings } = await events(
      `${text(event, { ...event, kind: "Thought" }, { ...event, seq: 1 })}{\n${text([])}`,
    );
    expect(exit).toBe(3);
    expect(findings).toMatchObject([
      { rule: "event.kind", place: { line: 2, pointer: "/kind" } },
      { rule: "event.fields", place: { line: 3, pointer: "/seq" } },
      { rule: "json.syntax", place: { line: 4 } },
      { rule: "event.object", place: { line: 5 } },
    ]);
  });

  it("with --strict asks of each kind of event what belongs to it", async () => {
    const odd = text({ agent_kind: "codex", kind: "Error", text: "x" });
    expect((await events(odd)).exit).toBe(0);
    expect((await events(odd, ["--strict"])).findings).toHaveLength(2);
  });
});
