/** Claude Code itself, in a session of an editor. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openEditor, say } from "../support/editor.ts";
import { claude } from "./agents.ts";
import { describeWorld } from "./suite.ts";
import { makeCwd } from "./world.ts";

describeWorld(claude, "claude in an editor", (world) => {
  it("answers, asks the editor before it writes, and writes; another editor is shown all of it", async () => {
    const cwd = makeCwd();
    const editor = await openEditor(["claude", ...claude.flags], world().env, "allow");
    const { sessionId } = await editor.agent.request("session/new", { cwd, mcpServers: [] });
    expect(await say(editor, sessionId, "Please. [[scenario:text]]")).toEqual({ stopReason: "end_turn" });
    expect(editor.text("agent_message_chunk")).toBe("Hello from the fake model.");

    expect(await say(editor, sessionId, "Please. [[scenario:shellwrite]]")).toEqual({
      stopReason: "end_turn",
    });
    expect(editor.asked).toMatchObject([{ sessionId, toolCall: { status: "pending" } }]);
    expect(existsSync(join(cwd, "made.txt"))).toBe(true);

    const other = await openEditor(["claude", ...claude.flags], world().env);
    await other.agent.request("session/load", { sessionId, cwd, mcpServers: [] });
    expect(other.text("user_message_chunk")).toContain("[[scenario:shellwrite]]");
    expect(other.text("agent_message_chunk")).toBe(editor.text("agent_message_chunk"));
    await world().agent("send", sessionId, "--close");
    expect((await world().story(sessionId)).of("worker_completed")).toHaveLength(1);
  });
});
