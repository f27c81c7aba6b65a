/** `-o ndjson`: what is too large for a Protocol v1 envelope is an artifact in the state directory, of which the envelope tells. */
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { artifactsIn } from "../../src/daemon/artifacts.ts";
import { EnvelopeV1 } from "../../src/protocol/envelope-schemas.ts";
import type { LogRecord } from "../../src/protocol/records.ts";
import { agent } from "./support/agent.ts";
import { type Answerer, type FakeDaemon, fakeDaemon } from "./support/fake-daemon.ts";
import { lifecycle, said, watched, worker } from "./support/samples.ts";

let daemon: FakeDaemon | undefined;
beforeAll(() => void process.setMaxListeners(0));
afterEach(async () => {
  await daemon?.close();
  daemon = undefined;
});

const against = async (
  answers: Record<string, Answerer>,
  argv: readonly string[],
  env: Record<string, string> = {},
) => {
  daemon = await fakeDaemon(answers);
  const ran = await agent(["--state-dir", daemon.stateDir, "-o", "ndjson", ...argv], { env });
  const lines = ran.stdout.trimEnd().split("\n");
  return { ...ran, envelopes: lines.map((line) => EnvelopeV1.parse(JSON.parse(line))) };
};
const content = async (digest: unknown) =>
  JSON.parse(Buffer.from(await artifactsIn(daemon!.stateDir, {}).get(digest as string)).toString());

describe("a result", () => {
  const workers = Array.from({ length: 200 }, () => worker());
  const answers = { "agent/list": () => ({ workers }) };

  it("over 32 KB is a summary, a digest and the artifact", async () => {
    const { exit, envelopes } = await against(answers, ["list"]);
    const [{ data, meta }] = envelopes as [EnvelopeV1];
    expect({ exit, status: envelopes[0]!.status }).toEqual({ exit: 0, status: "ok" });
    expect(data).toMatchObject({ summary: { kind: "application/json", record_count: 200 } });
    expect(meta.cas_digest).toBe(data.artifact);
    expect((await content(data.artifact)).workers).toEqual(workers);
  });

  it("of a page of workers says where the next page begins", async () => {
    const page = { workers: workers.slice(0, 2), total: 200, cursor: "01C" };
    const { envelopes } = await against({ "agent/list": () => page }, ["list", "--all", "--limit", "2"], {
      HOLDFAST_INLINE_OUTPUT: "200",
    });
    expect(envelopes[0]!.data.summary).toMatchObject({
      record_count: 2,
      pagination: { has_more: true, total_items: 200, cursor: "01C" },
    });
  });

  it("is inline where the limit is raised", async () => {
    const { envelopes } = await against(answers, ["list"], { HOLDFAST_INLINE_OUTPUT: "1MB" });
    expect(envelopes[0]!.data.workers).toHaveLength(200);
  });

  it("over the capture limit is EOUTPUT_TOO_LARGE, with what to do", async () => {
    const { exit, envelopes } = await against(answers, ["list"], { HOLDFAST_MAX_CAPTURE: "40KB" });
    expect({ exit, status: envelopes[0]!.status }).toEqual({ exit: 1, status: "error" });
    expect(envelopes[0]).toMatchObject({
      data: { hint: expect.stringContaining("HOLDFAST_MAX_CAPTURE") },
      error: { code: "EOUTPUT_TOO_LARGE", details: { limit_bytes: 40_960 } },
    });
  });

  it("is not asked for where a limit is no size", async () => {
    const { exit, envelopes } = await against(answers, ["list"], { HOLDFAST_MAX_CAPTURE: "much" });
    expect({ exit, error: envelopes[0]!.error }).toMatchObject({
      exit: 3,
      error: { code: "EARG", message: expect.stringContaining("HOLDFAST_MAX_CAPTURE is a size") },
    });
  });
});

it("raw bytes are never an artifact, since nobody has masked them: the envelope has as many as fit, and says so", async () => {
  const spool = Buffer.alloc(100_000, 0xff);
  const answers: Record<string, Answerer> = {
    "agent/raw": ({ offset, max_bytes }) => {
      const slice = spool.subarray(offset as number, (offset as number) + (max_bytes as number));
      const next = (offset as number) + slice.length;
      return { base64: slice.toString("base64"), next, ended: true, incarnation: 1, newest: 1 };
    },
  };
  const { envelopes, stderr } = await against(answers, ["logs", "fixer", "--raw"]);
  expect(envelopes[0]!.data).toMatchObject({ bytes: 23_808, truncated: true, base64: expect.any(String) });
  expect(stderr + JSON.stringify(envelopes)).not.toContain("sent whole");
  expect(await artifactsIn(daemon!.stateDir, {}).list()).toEqual([]);
});

it("a record that is too large is an artifact at its place in the stream", async () => {
  const large: LogRecord = { ...said("x".repeat(40_000)), seq: 100 };
  const watching: Answerer = (_data, emit) => {
    for (const record of [lifecycle[0]!, large, lifecycle[1]!]) emit(record);
    return watched(6, 3);
  };
  const { envelopes } = await against({ "agent/watch": watching }, ["watch", "fixer"]);
  expect(envelopes.map(({ status }) => status)).toEqual(["progress", "progress", "progress", "ok"]);
  expect(envelopes.slice(0, 3).map(({ meta }) => meta.seq)).toEqual([0, 1, 2]);
  expect(envelopes[1]!.data).toMatchObject({ seq: 100, type: large.type, summary: expect.anything() });
  expect(await content(envelopes[1]!.data.artifact)).toEqual(large);
});
