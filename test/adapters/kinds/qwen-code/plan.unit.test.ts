/** How Qwen Code is started. */
import { expect, test } from "vitest";
import { qwenCode } from "../../../../src/adapters/kinds/qwen-code/index.ts";
import { WorkerSpec, type WorkerSpecInput } from "../../../../src/protocol/worker.ts";

const specOf = (fields: Partial<WorkerSpecInput> = {}) =>
  WorkerSpec.parse({ kind: "qwen_code", prompt: "Fix it.", cwd: "/", restart: "transient", ...fields });
const planOf = (fields: Partial<WorkerSpecInput> = {}, session?: string) =>
  qwenCode.plan({ spec: specOf(fields), worker_id: "W", incarnation: 1, session, binary: "qwen" });
const flagsOf = (...given: Parameters<typeof planOf>) => planOf(...given).argv.slice(3);

test("it runs headless with stream-json, and takes the prompt from a stdin that ends", () => {
  expect(planOf()).toEqual({
    argv: [
      "qwen",
      "--output-format",
      "stream-json",
      "--session-id",
      expect.stringMatching(/^[0-9a-f-]{36}$/),
      "--approval-mode",
      "default",
    ],
    env: { QWEN_CODE_NO_RELAUNCH: "true", QWEN_CODE_SUPPRESS_YOLO_WARNING: "1" },
    stdin: { kind: "text", text: "Fix it." },
  });
});

test("a known session is resumed, before one that was asked for; a fork begins another", () => {
  expect(flagsOf({ session: "asked" }, "known").slice(0, 2)).toEqual(["--resume", "known"]);
  expect(flagsOf({ session: "asked", fork: true }).slice(0, 3)).toEqual([
    "--resume",
    "asked",
    "--fork-session",
  ]);
  const last = { ext: { "agent_api.session.resume.v1": { selector: "last" } } };
  expect(flagsOf(last)[0]).toBe("--continue");
  expect(flagsOf({ argv: ["--continue"] })).toEqual(["--approval-mode", "default", "--continue"]);
});

test("permission allow approves all; model, turns, directories and extra arguments are passed on", () => {
  const ext = { "agent_api.exec.add_dirs.v1": { dirs: ["/a", "b"] } };
  const flags = flagsOf(
    { permission: "allow", model: "m", budget: { turns: 3 }, ext, cwd: "/w", argv: ["--debug"] },
    "s",
  );
  expect(flags.join(" ")).toBe(
    "--model m --resume s --add-dir /a --add-dir /w/b --approval-mode yolo --max-session-turns 3 --debug",
  );
});

test("a conversation keeps stdin open for its messages, and its turns are not counted by the CLI", () => {
  const { argv, stdin } = planOf({ interactive: true, budget: { turns: 3 } }, "s");
  expect(argv.slice(1, 5)).toEqual(["--output-format", "stream-json", "--input-format", "stream-json"]);
  expect(argv).not.toContain("--max-session-turns");
  expect(stdin).toMatchObject({ kind: "open", text: expect.stringContaining('"initialize"') });
});

test("a directory with a comma, a schema in a conversation, and questions are mistakes with a next step", () => {
  const ext = { "agent_api.exec.add_dirs.v1": { dirs: ["/b,c"] } };
  expect(qwenCode.validate(specOf({ ext }))[0]).toMatch(/^Qwen Code cannot use a directory with a comma/);
  expect(qwenCode.validate(specOf({ interactive: true, output_schema: { type: "object" } }))).toEqual([
    "Qwen Code takes no schema in a conversation: leave out --interactive, or --output-schema.",
  ]);
  expect(qwenCode.validate(specOf({ permission: "ask" }))[0]).toMatch(/cannot ask for permission/);
});
