/** Telemetry as a collector meets it: posts decoded by the official definitions, over the life of agents and of daemons. */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
// The decoder that the OpenTelemetry project generates from its .proto files; its types are of the encoder.
import generated from "@opentelemetry/otlp-proto-exporter-base/build/src/generated/root.js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Commands, makeCommands, until } from "./support/commands.ts";

const AGENT = join(import.meta.dirname, "../fixtures/agents/works.mjs");
/** sched(7). */
const SCHED_IDLE = "5";
const PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
// biome-ignore lint/suspicious/noExplicitAny: its types have no member for what it generates
const { opentelemetry } = generated as any;
const { ExportTraceServiceRequest } = opentelemetry.proto.collector.trace.v1;
const { ExportMetricsServiceRequest } = opentelemetry.proto.collector.metrics.v1;
const DECODERS: Record<string, typeof ExportTraceServiceRequest> = {
  "/v1/traces": ExportTraceServiceRequest,
  "/v1/metrics": ExportMetricsServiceRequest,
};

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly attributes: Record<string, unknown>;
}

let commands: Commands;
let server: Server;
let env: Record<string, string>;
let answer = 200;
/** The next post of metrics gets no answer, and is held. */
let isHolding = false;
let held: unknown;
// biome-ignore lint/suspicious/noExplicitAny: messages as they were decoded
const posted: { readonly path: string; readonly message: any }[] = [];

const textOrNumber = (value: Record<string, unknown>) =>
  value.stringValue ??
  (value.intValue === undefined ? (value.doubleValue ?? value.boolValue) : Number(value.intValue));
const hex = (bytes: string) => Buffer.from(bytes, "base64").toString("hex");
const spans = (): readonly Span[] =>
  posted
    .filter(({ path }) => path === "/v1/traces")
    .flatMap(({ message }) => message.resourceSpans[0].scopeSpans[0].spans)
    .map(({ traceId, spanId, parentSpanId = "", name, attributes }) => ({
      traceId: hex(traceId),
      spanId: hex(spanId),
      parentSpanId: hex(parentSpanId),
      name,
      attributes: Object.fromEntries(
        attributes.map(({ key, value }: { key: string; value: Record<string, unknown> }) => [
          key,
          textOrNumber(value),
        ]),
      ),
    }));
const runOf = (name: string) => spans().find((span) => span.name === `invoke_agent ${name}`);
const start = (...argv: string[]) => commands.start(["-o", "json", ...argv], env).ended;

beforeAll(async () => {
  server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
      const decoder = DECODERS[request.url!]!;
      expect(request.headers["content-type"]).toBe("application/x-protobuf");
      const message = decoder.toObject(decoder.decode(Buffer.concat(parts)), {
        longs: String,
        bytes: String,
      });
      if (isHolding && request.url === "/v1/metrics") {
        isHolding = false;
        held = message;
        return;
      }
      if (answer === 200) posted.push({ path: request.url!, message });
      response.writeHead(answer).end();
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  commands = makeCommands();
  env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    OTEL_BSP_SCHEDULE_DELAY: "100",
    OTEL_METRIC_EXPORT_INTERVAL: "100",
    OTEL_RESOURCE_ATTRIBUTES: "team=night",
    OTEL_SEMCONV_STABILITY_OPT_IN: "gen_ai_latest_experimental",
  };
  await start("daemon", "start");
});
afterAll(async () => {
  await commands.close();
  server.closeAllConnections();
  server.close();
});

it("a run is a span in the trace of its caller, and its agent is told of it", async () => {
  env.TRACEPARENT = PARENT;
  env.TRACESTATE = "a=1";
  await start("spawn", "--name", "told", "--wait", "--", "sh", "-c", "echo $TRACEPARENT $TRACESTATE");
  delete env.TRACEPARENT;
  delete env.TRACESTATE;
  await until(() => runOf("told") !== undefined);
  const { traceId, spanId, parentSpanId, attributes } = runOf("told")!;
  expect([traceId, parentSpanId]).toEqual(PARENT.split("-").slice(1, 3));
  expect(attributes).toMatchObject({
    "holdfast.worker.name": "told",
    "holdfast.kind": "command",
    "holdfast.incarnation": 1,
    "holdfast.outcome": "completed",
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.name": "told",
  });
  const { data } = await commands.agent("output", "told");
  expect(JSON.stringify(data)).toContain(`00-${traceId}-${spanId}-01 a=1`);
});

it("turns and tools are below the run, whose trace is the worker's id, and metrics name no worker", async () => {
  await start("spawn", "claude", "Fix it.", "--name", "works", "--wait", "--env", `CLAUDE_BINARY=${AGENT}`);
  await until(() => runOf("works") !== undefined);
  const run = runOf("works")!;
  const below = spans().filter(({ parentSpanId }) => parentSpanId === run.spanId);
  expect(run.parentSpanId).toBe("");
  expect(below.map(({ name }) => name.split(" ")[0])).toContain("chat");
  expect(below.every(({ traceId }) => traceId === run.traceId)).toBe(true);
  const metrics = () =>
    posted.filter(({ path }) => path === "/v1/metrics").at(-1)?.message.resourceMetrics[0];
  const names = () => metrics()?.scopeMetrics[0].metrics.map(({ name }: { name: string }) => name) ?? [];
  await until(() => names().includes("holdfast.turn.duration"));
  expect(names()).toContain("holdfast.incarnation.duration");
  expect(JSON.stringify(metrics().scopeMetrics)).not.toContain(String(run.attributes["holdfast.worker.id"]));
  expect(JSON.stringify(metrics().resource)).toContain("night");
});

it("a collector that is away gets the spans later, from the next daemon too", async () => {
  answer = 503;
  await start("spawn", "--name", "late", "--wait", "--", "true");
  const telemetry = async () =>
    (await commands.agent("daemon", "status")).data.telemetry as Record<string, unknown>;
  await until(async () => (await telemetry()).failing !== null);
  expect(await telemetry()).toMatchObject({ spans_dropped: 0, failing: expect.stringContaining("503") });
  expect((await commands.text("doctor")).stdout).toContain("the collector takes nothing");
  await commands.killDaemon();
  answer = 200;
  await start("daemon", "start");
  await until(() => runOf("late") !== undefined);
  expect(runOf("late")?.attributes["holdfast.outcome"]).toBe("completed");
});

it("the last metrics of a daemon do not wait for the answer to those before", async () => {
  // biome-ignore lint/suspicious/noExplicitAny: a message as it was decoded
  const runsIn = (message: any): number =>
    message.resourceMetrics[0].scopeMetrics[0].metrics
      .find(({ name }: { name: string }) => name === "holdfast.incarnation.duration")
      .histogram.dataPoints.reduce((sum: number, { count }: { count: string }) => sum + Number(count), 0);
  await until(() => posted.some(({ path }) => path === "/v1/metrics"));
  isHolding = true;
  await until(() => !isHolding);
  await start("spawn", "--name", "last", "--wait", "--", "true");
  await until(() => runOf("last") !== undefined);
  await start("daemon", "stop");
  const last = posted.findLast(({ path }) => path === "/v1/metrics")?.message;
  expect(runsIn(last)).toBe(runsIn(held) + 1);
});

it("a daemon that ends posts the run that ended just before, which waited for others", async () => {
  env.OTEL_BSP_SCHEDULE_DELAY = "3600000";
  await start("daemon", "start");
  await start("spawn", "--name", "before-the-end", "--wait", "--", "true");
  await start("daemon", "stop");
  expect(runOf("before-the-end")?.attributes["holdfast.outcome"]).toBe("completed");
});

it("the first run of a daemon is told, which began before its telemetry was loaded", async () => {
  env.OTEL_BSP_SCHEDULE_DELAY = "100";
  rmSync(join(commands.home, "telemetry.json"));
  await start("spawn", "--name", "first", "--wait", "--", "true");
  await until(() => runOf("first") !== undefined);
  expect(runOf("first")?.attributes["holdfast.outcome"]).toBe("completed");
});

it("its thread takes only what no other one of the machine wants", async () => {
  env.OTEL_BSP_SCHEDULE_DELAY = "100";
  await start("spawn", "--name", "told", "--wait", "--", "true");
  await until(() => runOf("told") !== undefined);
  const { pid } = JSON.parse((await start("daemon", "status")).stdout).data as { pid: number };
  // proc(5): the policy is field 41 of `stat`, the 39th behind the name.
  const policies = readdirSync(`/proc/${pid}/task`).map(
    (thread) => readFileSync(`/proc/${pid}/task/${thread}/stat`, "latin1").split(") ").at(-1)!.split(" ")[38],
  );
  expect(policies.filter((policy) => policy === SCHED_IDLE)).toHaveLength(1);
});
