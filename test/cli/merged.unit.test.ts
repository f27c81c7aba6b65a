import { describe, expect, it } from "vitest";
import { merged } from "../../src/cli/merged.ts";
import { answersIn } from "../../src/cli/render/host-rows.ts";
import { HoldfastError } from "../../src/protocol/errors.ts";
import { failure, success } from "../../src/protocol/outcome.ts";

const away = failure(new HoldfastError("UNAVAILABLE", "It is away.", { suggestion: "Look." }));
const worker = (name: string) => success({ workers: [{ name }], total: 1 });

describe("the answers of several hosts", () => {
  it("of a list are its rows, each with its host", () => {
    const whole = merged("agent/list", [
      { host: "a", result: worker("x") },
      { host: "b", result: { ...worker("y"), meta: { truncated: true, cursor: "c" } } },
    ]);
    expect(whole).toEqual({
      ok: true,
      value: {
        workers: [
          { host: "a", name: "x" },
          { host: "b", name: "y" },
        ],
      },
      warnings: [],
      meta: { truncated: true },
    });
    expect([...answersIn("agent/list", whole.value as object)]).toEqual([
      ["a", { workers: [{ name: "x" }] }],
      ["b", { workers: [{ name: "y" }] }],
    ]);
  });

  it("of a list have a question of a whole cluster once, and that of another cluster beside it", () => {
    const inbox = (...shared_ids: readonly string[]) =>
      success({ holds: [{ id: "own" }, ...shared_ids.map((shared_id) => ({ shared_id }))] });
    const whole = merged("agent/inbox", [
      { host: "a", result: inbox("1") },
      { host: "b", result: inbox("1", "2") },
    ]);
    expect(whole.value).toEqual({
      holds: [
        { host: "a", id: "own" },
        { host: "a", shared_id: "1" },
        { host: "b", id: "own" },
        { host: "b", shared_id: "2" },
      ],
    });
  });

  it("of another command are one row a host", () => {
    const whole = merged("daemon/status", [
      { host: "a", result: success({ pid: 1 }, ["low"]) },
      { host: "b", result: success({ pid: 2 }) },
    ]);
    expect(whole.value).toEqual({
      hosts: [
        { host: "a", pid: 1 },
        { host: "b", pid: 2 },
      ],
    });
    expect(whole.warnings).toEqual(["a: low"]);
    expect([...answersIn("daemon/status", whole.value as object)]).toEqual([
      ["a", { pid: 1 }],
      ["b", { pid: 2 }],
    ]);
  });

  it("without one of them are a partial failure that names it", () => {
    const whole = merged("agent/list", [
      { host: "a", result: worker("x") },
      { host: "b", result: away },
    ]);
    expect(whole).toMatchObject({
      ok: false,
      error: {
        code: "PARTIAL_FAILURE",
        message: "1 of 2 hosts failed. b: It is away.",
        suggestion: "b: Look.",
      },
      value: { workers: [{ host: "a", name: "x" }] },
    });
    expect(!whole.ok && whole.error.info.details).toEqual({
      hosts: [{ host: "b", code: "UNAVAILABLE", message: "It is away.", suggestion: "Look." }],
    });
  });

  it("are the failure that all have", () => {
    const whole = merged("agent/list", [
      { host: "a", result: away },
      { host: "b", result: away },
    ]);
    expect(whole).toMatchObject({ ok: false, error: { code: "UNAVAILABLE" }, value: { workers: [] } });
    const other = failure(new HoldfastError("WORKER_NOT_FOUND", "None."));
    const mixed = merged("agent/list", [
      { host: "a", result: away },
      { host: "b", result: other },
    ]);
    expect(mixed).toMatchObject({ ok: false, error: { code: "PARTIAL_FAILURE" } });
  });
});
