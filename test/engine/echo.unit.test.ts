/** The port of engines asks for no model: an engine without one is an engine too. */
import { expect, it } from "vitest";
import { echoEngine } from "../../src/engine/echo.ts";
import type { EngineInput, EngineLine } from "../../src/protocol/engine-lines.ts";

async function* inputs(): AsyncGenerator<EngineInput> {
  yield { type: "message", id: "m1", text: "one" };
  yield { type: "interrupt" };
  yield { type: "message", id: "m2", text: "two" };
}

it.each([
  [false, ["one"]],
  [true, ["one", "two"]],
])("interactive %s: it answers %j", async (interactive, answers) => {
  const lines: EngineLine[] = [];
  await echoEngine.run({
    opening: {
      type: "open",
      worker_id: "w",
      model: "echo/x",
      cwd: "/",
      interactive,
      settings: {},
      policy: { permission: "allow", rules: [] },
      ground: { providers: {}, mcp: {} },
    },
    inputs: inputs(),
    tell: (line) => lines.push(line),
    signal: new AbortController().signal,
  });
  expect(lines.flatMap((line) => (line.type === "end" ? [line.text] : []))).toEqual(answers);
  expect(lines[0]).toMatchObject({ type: "session" });
});
