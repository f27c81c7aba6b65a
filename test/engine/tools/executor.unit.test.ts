/** Several sources of tools behind one policy. */
import { expect, it } from "vitest";
import { policedTools } from "../../../src/engine/tools/executor.ts";
import type { OfferedTool, ToolSource } from "../../../src/engine/tools/offered.ts";

const tool = (name: string, only_reads = false): OfferedTool => ({
  name,
  description: `The tool ${name}.`,
  input_schema: { type: "object" },
  is_idempotent: only_reads,
  only_reads,
});

const sourceOf = (id: string, tools: readonly OfferedTool[], closed: string[] = []): ToolSource => ({
  list: async () => tools,
  run: async ({ name }) => ({ output: `${id} ran ${name}`, is_error: false }),
  close: async () => {
    closed.push(id);
    if (id === "broken") throw new Error("cannot close");
  },
});

const CONTEXT = {
  signal: new AbortController().signal,
  worker_id: "w",
  cwd: "/",
  idempotency_key: "k",
};
const call = (name: string) => ({ id: "c", name, input: {} });

it("offers what may be allowed, and gives each call to the source of its tool", async () => {
  const tools = policedTools(
    [
      sourceOf("first", [tool("read", true), tool("both")]),
      sourceOf("second", [tool("both"), tool("write")]),
    ],
    { permission: "deny", rules: [{ tool: "both", action: "ask" }] },
  );
  expect(await tools.list()).toEqual([
    {
      name: "read",
      description: "The tool read.",
      input_schema: { type: "object" },
      is_idempotent: true,
      may_overlap: true,
    },
    expect.objectContaining({ name: "both" }),
  ]);
  expect(["read", "both", "write", "nothing"].map((name) => tools.judge(call(name)).decision)).toEqual([
    "allow",
    "ask",
    "deny",
    "deny",
  ]);
  expect(await tools.run(call("both"), CONTEXT)).toEqual({ output: "first ran both", is_error: false });
  expect(await tools.run(call("nothing"), CONTEXT)).toMatchObject({ is_error: true });
});

it("refuses more tools than a model takes, before anything is asked", async () => {
  const many = Array.from({ length: 129 }, (_, n) => tool(`t${n}`));
  const tools = policedTools([sourceOf("one", many)], { permission: "allow", rules: [] });
  await expect(tools.list()).rejects.toMatchObject({
    code: "INVALID_REQUEST",
    message: "The agent would have 129 tools, and a model takes at most 128.",
  });
});

it("closes every source, although one fails", async () => {
  const closed: string[] = [];
  const sources = ["broken", "second"].map((id) => sourceOf(id, [], closed));
  await policedTools(sources, { permission: "allow", rules: [] }).close();
  expect(closed).toEqual(["broken", "second"]);
});
