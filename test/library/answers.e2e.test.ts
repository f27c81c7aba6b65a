/** A final answer that is too large for a record: whole as an artifact, masked, and held by the record that names it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CAPTURE_MAX_BYTES, FINAL_TEXT_MAX_BYTES } from "../../src/base/limits.ts";
import { artifactsIn, collectIn } from "../../src/daemon/artifacts.ts";
import { gc } from "../../src/daemon/offline.ts";
import { referencedDigests } from "../../src/store/sqlite/references.ts";
import { collect, openRuntime, stateDirectory } from "./support.ts";

const AGENT = join(import.meta.dirname, "../fixtures/agents/answers-at-length.mjs");
const SECRET = "correct-horse-battery-staple";
const LINE = "lorem ipsum dolor\n";

const answered = async (bytes: number) => {
  const stateDir = stateDirectory();
  const runtime = await openRuntime(stateDir);
  const env = { CLAUDE_BINARY: AGENT, ANSWER_BYTES: String(bytes), THE_SECRET: SECRET };
  const { id } = await runtime.spawn({ kind: "claude_code", prompt: "go on", env });
  const records = await collect(runtime.watch(id));
  const end = records.find((record) => record.type === "worker_completed");
  if (end?.type !== "worker_completed") throw new Error(JSON.stringify(records.slice(-3)));
  const reply = await runtime.output(id);
  const { text: output } = reply;
  const again = async () => {
    await runtime.close();
    await gc(stateDir, "test", { before_ms: Date.now() + 60_000 });
    return (await (await openRuntime(stateDir)).output(id)).text;
  };
  return {
    stateDir,
    end: end.payload,
    reply,
    output,
    outputAfterGc: again,
    artifacts: artifactsIn(stateDir, {}),
  };
};

test("over 32 KB it is an artifact, which its record names and holds", async () => {
  const { stateDir, end, reply, output, outputAfterGc, artifacts } = await answered(LINE.length * 20_000);
  const whole = LINE.repeat(20_000);
  expect(output.startsWith(whole)).toBe(true);
  expect(Buffer.byteLength(end.completion.final_text!)).toBeLessThanOrEqual(FINAL_TEXT_MAX_BYTES);
  const digest = end.artifact!.digest!;
  const kept = Buffer.from(await artifacts.get(digest)).toString();
  // The agent printed its secret in two parts; here they are one, and masked.
  expect(kept).toBe(`${whole}***`);
  expect(end.artifact).toEqual({ digest, size_bytes: Buffer.byteLength(kept) });
  // protocol-v1.txt, Summary requirements.
  expect(reply).toMatchObject({
    artifact: digest,
    summary: { size_bytes: Buffer.byteLength(kept), kind: expect.stringMatching(/^text\/plain/) },
  });
  expect(reply.summary?.preview.first_text).toMatch(LINE.trim());
  expect(referencedDigests(join(stateDir, "holdfast.db"))).toEqual([digest]);
  expect(await collectIn(stateDir, { older_than_ms: 0, dry_run: false })).toMatchObject({ objects: 0 });
  // Also where retention has moved the output out of the log.
  expect(await outputAfterGc()).toBe(kept);
});

test("over the capture limit the record says so, and the log still has it whole", async () => {
  const lines = Math.ceil(CAPTURE_MAX_BYTES / LINE.length);
  const { stateDir, end, output } = await answered(LINE.length * lines);
  expect(output.startsWith(LINE.repeat(lines))).toBe(true);
  expect(end.artifact).toMatchObject({ digest: null, error: { code: "CAPTURE_TOO_LARGE" } });
  expect(end.artifact!.size_bytes).toBeGreaterThan(CAPTURE_MAX_BYTES);
  expect(existsSync(join(stateDir, "cas"))).toBe(false);
});

test("up to 32 KB it is in its record alone", async () => {
  const { stateDir, end } = await answered(LINE.length * 1_000);
  expect(end.completion.final_text).toBe(LINE.repeat(1_000));
  expect(end).not.toHaveProperty("artifact");
  expect(existsSync(join(stateDir, "cas"))).toBe(false);
});
