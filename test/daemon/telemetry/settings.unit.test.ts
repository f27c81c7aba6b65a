/** The collector of a daemon, by the standard variables and by its configuration. */
import { expect, it } from "vitest";
import { type TelemetrySettings, telemetryWish } from "../../../src/daemon/telemetry/settings.ts";
import { TelemetryConfiguration } from "../../../src/protocol/telemetry.ts";

const settingsOf = (env: Record<string, string>, configured?: object): TelemetrySettings => {
  const wish = telemetryWish(
    env,
    configured === undefined ? undefined : TelemetryConfiguration.parse(configured),
  );
  if (wish === undefined || "problem" in wish) throw new Error(JSON.stringify(wish));
  return wish.settings;
};
const BASE = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318/" };

it("is off unless somebody names a collector, and where the SDK is disabled", () => {
  expect(telemetryWish({}, undefined)).toBeUndefined();
  expect(telemetryWish({ ...BASE, OTEL_SDK_DISABLED: "true" }, undefined)).toBeUndefined();
  expect(
    telemetryWish({ ...BASE, OTEL_TRACES_EXPORTER: "none", OTEL_METRICS_EXPORTER: "none" }, undefined),
  ).toBeUndefined();
});

it("a base gets the path of its signal, a signal's own address none; variables win over the configuration", () => {
  const { traces, metrics } = settingsOf(
    { ...BASE, OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "https://other/in" },
    { endpoint: "http://configured:4318" },
  );
  expect([traces?.url, metrics?.url]).toEqual(["http://collector:4318/v1/traces", "https://other/in"]);
  expect(settingsOf({}, { endpoint: "http://configured:4318" }).traces?.url).toBe(
    "http://configured:4318/v1/traces",
  );
});

it("reads headers, protocol, compression, names and the opt-in", () => {
  const settings = settingsOf({
    ...BASE,
    OTEL_EXPORTER_OTLP_HEADERS: "a=1,b=x%20y%3D",
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/json",
    OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
    OTEL_EXPORTER_OTLP_TIMEOUT: "1",
    OTEL_RESOURCE_ATTRIBUTES: "service.name=night,team=a%2Cb",
    OTEL_SEMCONV_STABILITY_OPT_IN: "http, gen_ai_latest_experimental",
  });
  expect(settings.traces).toMatchObject({
    protocol: "http/json",
    isCompressed: true,
    timeout_ms: 100,
    headers: { a: "1", b: "x y=" },
  });
  expect(settings.metrics?.protocol).toBe("http/protobuf");
  expect(settings).toMatchObject({ isGenAi: true, service_name: "night", resource: { team: "a,b" } });
});

it.each([
  [{ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }, "http/protobuf"],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: "collector" }, "no http or https URL"],
])("%j is a problem with a sentence", (env, part) => {
  expect(telemetryWish({ ...BASE, ...env }, undefined)).toEqual({ problem: expect.stringContaining(part) });
});
