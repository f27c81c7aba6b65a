/** How Gemini CLI is started. */
import { expect, test } from "vitest";
import { geminiCli } from "../../../../src/adapters/kinds/gemini-cli/index.ts";
import { WorkerSpec, type WorkerSpecInput } from "../../../../src/protocol/worker.ts";

const specOf = (fields: Partial<WorkerSpecInput> = {}) =>
  WorkerSpec.parse({ kind: "gemini_cli", prompt: "Fix it.", cwd: "/", restart: "transient", ...fields });
const planOf = (fields: Partial<WorkerSpecInput> = {}, session?: string, incarnation = 1, worker_id = "W") =>
  geminiCli.plan({ spec: specOf(fields), worker_id, incarnation, session, binary: "gemini" });
const flagsOf = (...given: Parameters<typeof planOf>) => planOf(...given).argv.slice(3);

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/;

test("it runs headless with stream-json, one process, and takes the prompt from a stdin that ends", () => {
  expect(planOf()).toEqual({
    argv: [
      "gemini",
      "--output-format",
      "stream-json",
      "--session-id",
      expect.stringMatching(UUID),
      "--approval-mode",
      "default",
    ],
    env: { GEMINI_CLI_NO_RELAUNCH: "true", GEMINI_CLI_TRUST_WORKSPACE: "true" },
    stdin: { kind: "text", text: "Fix it." },
  });
});

test("the id of its session is the same for the same worker and incarnation, and for no other", () => {
  const id = (worker_id: string, incarnation: number) => flagsOf({}, undefined, incarnation, worker_id)[1];
  expect(id("W", 1)).toBe(id("W", 1));
  expect(new Set([id("W", 1), id("W", 2), id("V", 1)]).size).toBe(3);
});

test("a known session is resumed, before one that was asked for", () => {
  expect(flagsOf({ session: "asked" }).slice(0, 2)).toEqual(["--resume", "asked"]);
  expect(flagsOf({ session: "asked" }, "known").slice(0, 2)).toEqual(["--resume", "known"]);
  const last = { ext: { "agent_api.session.resume.v1": { selector: "last" } } };
  expect(flagsOf(last).slice(0, 2)).toEqual(["--resume", "latest"]);
});

test("a session that the extra arguments name is the only one", () => {
  expect(flagsOf({ argv: ["--resume=3"] })).toEqual(["--approval-mode", "default", "--resume=3"]);
});

test("permission allow approves all; model and extra arguments are passed on", () => {
  const flags = flagsOf({ permission: "allow", model: "gemini-x", argv: ["--debug"] }, "s");
  expect(flags).toEqual(["--model", "gemini-x", "--resume", "s", "--approval-mode", "yolo", "--debug"]);
});

test("each other directory that it may work in is a flag, absolute and once", () => {
  const ext = { "agent_api.exec.add_dirs.v1": { dirs: ["/a", "b", "/a"] } };
  expect(flagsOf({ ext, cwd: "/w" }, "s").join(" ")).toContain(
    "--include-directories /a --include-directories /w/b",
  );
  expect(flagsOf({ ext, cwd: "/w" }, "s").filter((flag) => flag === "/a")).toHaveLength(1);
});

test("a directory that the CLI would split at a comma is a mistake with a next step", () => {
  const ext = { "agent_api.exec.add_dirs.v1": { dirs: ["/a", "/b,c"] } };
  expect(geminiCli.validate(specOf({ ext }))).toEqual([
    "Gemini CLI cannot use a directory with a comma in its path: make a link to /b,c at a path without a comma.",
  ]);
});

test("a flag for something that it cannot do is a mistake with a next step", () => {
  expect(geminiCli.validate(specOf({ session: "s", fork: true }))).toEqual([
    "Kind gemini_cli cannot fork a session: leave out --fork to continue the session itself.",
  ]);
  expect(geminiCli.validate(specOf({ permission: "ask" }))[0]).toMatch(/cannot ask for permission/);
  expect(geminiCli.validate(specOf({ interactive: true }))[0]).toMatch(/takes no --interactive/);
});
