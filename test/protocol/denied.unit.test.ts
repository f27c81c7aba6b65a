/** Refused calls by tool, in a size that is known. */
import { expect, it } from "vitest";
import { DENIED_TOOLS_MAX } from "../../src/base/limits.ts";
import { addDenied, type DeniedCalls, deniedCount } from "../../src/protocol/denied.ts";

const all = (tools: readonly (string | null)[]) =>
  tools.reduce<readonly DeniedCalls[]>((sum, tool) => addDenied(sum, tool), []);

it("counts each tool, and those without a name together", () => {
  expect(all(["Bash", null, "Write", "Bash", null])).toEqual([
    { tool: "Bash", calls: 2 },
    { tool: null, calls: 2 },
    { tool: "Write", calls: 1 },
  ]);
});

it("loses no call of more tools than it names", () => {
  const tools = Array.from({ length: DENIED_TOOLS_MAX + 5 }, (_, n) => `tool-${n}`);
  const denied = all([...tools, "tool-0"]);
  expect(denied).toHaveLength(DENIED_TOOLS_MAX + 1);
  expect(denied.at(-1)).toEqual({ tool: null, calls: 5 });
  expect(deniedCount(denied)).toBe(tools.length + 1);
});
