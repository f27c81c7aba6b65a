/** A skill prints exactly one envelope of its own command. */
import { describe, expect, it } from "vitest";
import { CAPTURE_MAX_BYTES } from "../../src/base/limits.ts";
import { encodeEnvelope, terminalEnvelope } from "../../src/protocol/envelope-v1.ts";
import { HoldfastError } from "../../src/protocol/errors.ts";
import { failure, type Outcome, success } from "../../src/protocol/outcome.ts";
import { answerOf, standingOf } from "../../src/skills/answer.ts";

const head = { command: "my/skill", profiles: ["core/v1"] };
const line = (outcome: Outcome<unknown>, command = head.command): string =>
  encodeEnvelope(terminalEnvelope({ ...head, command }, { now_ms: 0, duration_ms: 1 }, outcome));
const ok = line(success({ a: 1 }));
const codeOf = (stdout: string | Buffer, size?: number): string | undefined => {
  const outcome = answerOf("my/skill", Buffer.from(stdout as string), size);
  return outcome.ok ? undefined : outcome.error.code;
};

describe("the answer of a skill", () => {
  it("is the data of its envelope, also of one over many lines", () => {
    expect(answerOf("my/skill", Buffer.from(ok))).toMatchObject({ ok: true, value: { a: 1 } });
    expect(codeOf(JSON.stringify(JSON.parse(ok), null, 2))).toBeUndefined();
  });

  it.each([
    ["nothing", "", "SKILL_ENVELOPE_INVALID"],
    ["a log line before it", `starting\n${ok}`, "SKILL_OUTPUT_UNREADABLE"],
    ["half of it", ok.slice(0, 40), "SKILL_OUTPUT_UNREADABLE"],
    ["two of them", ok + ok, "SKILL_ENVELOPE_INVALID"],
    ["an envelope of another command", line(success({}), "fs/ls"), "SKILL_ENVELOPE_INVALID"],
    ["JSON that is no envelope", '{"a":1}', "SKILL_ENVELOPE_INVALID"],
    ["a list", "[1]", "SKILL_ENVELOPE_INVALID"],
    [
      "progress alone",
      ok.replace('"ok"', '"progress"').replace('"meta":{', '"meta":{"seq":0,'),
      "SKILL_ENVELOPE_INVALID",
    ],
  ])("is refused: %s", (_, stdout, code) => {
    expect(codeOf(stdout)).toBe(code);
  });

  it("is refused where it is no UTF-8, or over the bound of a capture", () => {
    const outcome = answerOf("my/skill", Buffer.from([0x7b, 0xff, 0x7d]));
    expect(outcome).toMatchObject({ error: { code: "SKILL_OUTPUT_UNREADABLE" } });
    expect(codeOf("{}", CAPTURE_MAX_BYTES + 1)).toBe("SKILL_OUTPUT_TOO_LARGE");
    const large = line(success({ text: "x".repeat(CAPTURE_MAX_BYTES - 1_000) }));
    expect(codeOf(large)).toBeUndefined();
  });

  it("is masked where it holds a secret, or a field that is named like one, and not refused", () => {
    const told = JSON.parse(ok);
    const data = { password: "hunter2hunter2", nested: [{ api_key: "k-1" }], count: 2 };
    expect(answerOf("my/skill", Buffer.from(JSON.stringify({ ...told, data })))).toMatchObject({
      ok: true,
      value: { password: "***", nested: [{ api_key: "***" }], count: 2 },
    });
  });

  it("is the error that it names, by the code of the contract, with its hint", () => {
    const told = JSON.parse(line(failure(new HoldfastError("INVALID_REQUEST", "No city."))));
    const own = {
      ...told,
      data: { hint: "Name a city." },
      error: { code: "EARG", message: "No city.", details: {} },
    };
    expect(answerOf("my/skill", Buffer.from(JSON.stringify(own)))).toMatchObject({
      error: { code: "INVALID_REQUEST", message: "No city.", suggestion: "Name a city." },
    });
    // A code of ours that does not fit the contract's is not believed.
    const lying = { ...own, error: { ...own.error, details: { code: "INTERNAL" } } };
    expect(codeOf(JSON.stringify(lying))).toBe("INVALID_REQUEST");
    expect(codeOf(line(failure(new HoldfastError("SKILL_NOT_FOUND", "No."))))).toBe("SKILL_NOT_FOUND");
  });

  it("speaks against the skill only where the fault is its own", () => {
    const of = (code: "SKILL_FAILED" | "INVALID_REQUEST" | "POLICY_VIOLATION") =>
      standingOf(failure(new HoldfastError(code, "No.")));
    expect([
      of("SKILL_FAILED"),
      of("INVALID_REQUEST"),
      of("POLICY_VIOLATION"),
      standingOf(success({})),
    ]).toEqual([...["failure", "unknown", "unknown", "success"]]);
  });
});
