/** An editor on the official SDK of the Agent Client Protocol, in front of `agent acp`. */
import { type ChildProcess, spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import {
  type ClientConnection,
  client,
  ndJsonStream,
  type RequestPermissionRequest,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { expect, onTestFinished } from "vitest";
import { AGENT } from "./built.ts";

export interface Editor {
  readonly agent: ClientConnection["agent"];
  readonly process: ChildProcess;
  readonly updates: readonly SessionUpdate[];
  readonly asked: readonly RequestPermissionRequest[];
  /** The text of one sort of chunk, joined. */
  text(sort: "agent_message_chunk" | "user_message_chunk"): string;
}

/** `answer`: the option that its user chooses; without it nobody does. The editor is closed with the test. */
export const openEditor = async (
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  answer?: string,
): Promise<Editor> => {
  const child = spawn(process.execPath, [AGENT, "acp", ...argv], { env, stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.stdin!.end());
  const updates: SessionUpdate[] = [];
  const asked: RequestPermissionRequest[] = [];
  const app = client({ name: "editor" })
    .onNotification("session/update", ({ params }) => void updates.push(params.update))
    .onRequest("session/request_permission", ({ params, signal }) => {
      asked.push(params);
      if (answer !== undefined) return { outcome: { outcome: "selected", optionId: answer } };
      return new Promise((resolve) =>
        signal.addEventListener("abort", () => resolve({ outcome: { outcome: "cancelled" } })),
      );
    });
  const { agent } = app.connect(
    ndJsonStream(Writable.toWeb(child.stdin!), Readable.toWeb(child.stdout!) as ReadableStream<Uint8Array>),
  );
  const capabilities = await agent.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  expect(capabilities).toMatchObject({ protocolVersion: 1, agentCapabilities: { loadSession: true } });
  const text: Editor["text"] = (sort) =>
    updates
      .flatMap((update) =>
        update.sessionUpdate === sort && update.content.type === "text" ? [update.content.text] : [],
      )
      .join("");
  return { agent, process: child, updates, asked, text };
};

/** One turn: its stop reason. */
export const say = ({ agent }: Editor, sessionId: string, text: string) =>
  agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
