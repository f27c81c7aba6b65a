/** How Copilot CLI is started. */
import { expect, test } from "vitest";
import { copilot } from "../../../../src/adapters/kinds/copilot/index.ts";
import { WorkerSpec, type WorkerSpecInput } from "../../../../src/protocol/worker.ts";

const specOf = (fields: Partial<WorkerSpecInput> = {}) =>
  WorkerSpec.parse({ kind: "copilot", prompt: "Fix it.", cwd: "/", restart: "transient", ...fields });
const planOf = (fields: Partial<WorkerSpecInput> = {}, session?: string, incarnation = 1, worker_id = "W") =>
  copilot.plan({ spec: specOf(fields), worker_id, incarnation, session, binary: "copilot" });
const flagsOf = (...given: Parameters<typeof planOf>) => planOf(...given).argv.slice(5);

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/;

test("it runs headless with JSON lines, in a session of its own, and takes the prompt from a stdin that ends", () => {
  expect(planOf()).toEqual({
    argv: [
      "copilot",
      "--output-format",
      "json",
      "--no-color",
      "--no-ask-user",
      "--session-id",
      expect.stringMatching(UUID),
    ],
    env: { COPILOT_AUTO_UPDATE: "false" },
    stdin: { kind: "text", text: "Fix it." },
  });
});

test("its session is the same for all incarnations of a worker, and for no other worker", () => {
  expect(flagsOf({}, undefined, 2)).toEqual(flagsOf());
  expect(flagsOf({}, undefined, 1, "V")).not.toEqual(flagsOf());
});

test("a known session is resumed, before one that was asked for", () => {
  expect(flagsOf({ session: "asked" })).toEqual(["--resume=asked"]);
  expect(flagsOf({ session: "asked" }, "known")).toEqual(["--resume=known"]);
  expect(flagsOf({ ext: { "agent_api.session.resume.v1": { selector: "last" } } })).toEqual(["--continue"]);
});

test("a session that the extra arguments name is the only one", () => {
  expect(flagsOf({ argv: ["--continue"] })).toEqual(["--continue"]);
});

test("permission allow allows all; model and extra arguments are passed on", () => {
  const flags = flagsOf({ permission: "allow", model: "gpt-x", argv: ["--stream", "off"] }, "s");
  expect(flags).toEqual(["--model", "gpt-x", "--resume=s", "--allow-all", "--stream", "off"]);
});

test("each other directory that it may work in is a flag, absolute and once", () => {
  const ext = { "agent_api.exec.add_dirs.v1": { dirs: ["/a", "b", "/a"] } };
  expect(flagsOf({ ext, cwd: "/w" }, "s").join(" ")).toContain("--add-dir /a --add-dir /w/b");
  expect(flagsOf({ ext, cwd: "/w" }, "s").filter((flag) => flag === "/a")).toHaveLength(1);
});

test("a flag for something that it cannot do is a mistake with a next step", () => {
  expect(copilot.validate(specOf({ session: "s", fork: true }))).toEqual([
    "Kind copilot cannot fork a session: leave out --fork to continue the session itself.",
  ]);
  expect(copilot.validate(specOf({ permission: "ask" }))[0]).toMatch(/cannot ask for permission/);
});
