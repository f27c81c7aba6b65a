/**
 * The settings of telemetry: the standard variables of OpenTelemetry, or else `telemetry:` of config.yaml. Pure.
 * https://opentelemetry.io/docs/specs/otel/protocol/exporter/
 */
import {
  TELEMETRY_METRICS_EVERY_MS,
  TELEMETRY_POST_MAX_MS,
  TELEMETRY_SPANS_EVERY_MS,
  TELEMETRY_WAIT_MAX_MS,
  TELEMETRY_WAIT_MIN_MS,
} from "../../base/limits.ts";
import type { TelemetryConfiguration } from "../../protocol/telemetry.ts";
import type { Environment } from "../paths.ts";

const PROTOCOLS = ["http/protobuf", "http/json"] as const;
export type OtlpProtocol = (typeof PROTOCOLS)[number];

export interface SignalSettings {
  /** Whole and normal, http or https. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly protocol: OtlpProtocol;
  readonly isCompressed: boolean;
  readonly timeout_ms: number;
}

export interface TelemetrySettings {
  /** Undefined: no spans, or no metrics, are sent. */
  readonly traces: SignalSettings | undefined;
  readonly metrics: SignalSettings | undefined;
  /** Headers of all posts, whose values are references to secrets. */
  readonly secret_headers: Readonly<Record<string, string>>;
  readonly spans_every_ms: number;
  readonly metrics_every_ms: number;
  readonly isGenAi: boolean;
  readonly service_name: string;
  readonly resource: Readonly<Record<string, string>>;
}

/** The collector's host and port. */
export const endpointOf = ({ traces, metrics }: TelemetrySettings): string | null => {
  const url = (traces ?? metrics)?.url;
  return url === undefined ? null : new URL(url).host;
};

export type TelemetryWish = { readonly settings: TelemetrySettings } | { readonly problem: string };

const GEN_AI_OPT_IN = "gen_ai_latest_experimental";
const SIGNALS = ["TRACES", "METRICS"] as const;
type TelemetrySignal = (typeof SIGNALS)[number];

/** `a=1,b=2`, percent-encoded, as W3C Baggage writes it. A member without a name is left out. */
const membersOf = (text = ""): Readonly<Record<string, string>> =>
  Object.fromEntries(
    text.split(",").flatMap((member) => {
      const [name = "", ...value] = member.split("=");
      return name.trim() === "" ? [] : [[decoded(name.trim()), decoded(value.join("=").trim())]];
    }),
  );

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

const waitOf = (text: string | undefined, otherwise: number): number => {
  const ms = Number(text ?? Number.NaN);
  return Number.isFinite(ms) && ms > 0
    ? Math.min(TELEMETRY_WAIT_MAX_MS, Math.max(TELEMETRY_WAIT_MIN_MS, ms))
    : otherwise;
};

/** Undefined if nobody asked for telemetry. */
export const telemetryWish = (
  env: Environment,
  configured: TelemetryConfiguration | undefined,
): TelemetryWish | undefined => {
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === "true") return undefined;
  const urls = SIGNALS.map((signal) => [signal, writtenUrl(signal, env, configured)] as const);
  if (urls.every(([, text]) => text === undefined)) return undefined;
  const made: Partial<Record<TelemetrySignal, SignalSettings>> = {};
  for (const [signal, text] of urls) {
    if (text === undefined) continue;
    const read = signalOf(signal, text, env);
    if ("problem" in read) return read;
    made[signal] = read;
  }
  const { OTEL_SERVICE_NAME: named, ...given } = env;
  const resource = membersOf(given.OTEL_RESOURCE_ATTRIBUTES);
  const optIns = (env.OTEL_SEMCONV_STABILITY_OPT_IN ?? "").split(",").map((word) => word.trim());
  return {
    settings: {
      traces: made.TRACES,
      metrics: made.METRICS,
      secret_headers: configured?.headers ?? {},
      spans_every_ms: waitOf(env.OTEL_BSP_SCHEDULE_DELAY, TELEMETRY_SPANS_EVERY_MS),
      metrics_every_ms: waitOf(env.OTEL_METRIC_EXPORT_INTERVAL, TELEMETRY_METRICS_EVERY_MS),
      isGenAi: optIns.includes(GEN_AI_OPT_IN) || configured?.gen_ai === true,
      service_name: named || resource["service.name"] || "holdfast",
      resource,
    },
  };
};

const writtenUrl = (
  signal: TelemetrySignal,
  env: Environment,
  configured: TelemetryConfiguration | undefined,
): string | undefined => {
  if (env[`OTEL_${signal}_EXPORTER`] === "none") return undefined;
  const own = env[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`];
  if (own) return own;
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT || configured?.endpoint;
  return base === undefined ? undefined : `${base.replace(/\/$/, "")}/v1/${signal.toLowerCase()}`;
};

const signalOf = (
  signal: TelemetrySignal,
  text: string,
  env: Environment,
): SignalSettings | { readonly problem: string } => {
  const of = (name: string) =>
    env[`OTEL_EXPORTER_OTLP_${signal}_${name}`] || env[`OTEL_EXPORTER_OTLP_${name}`];
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    return {
      problem: `The endpoint of OpenTelemetry is no http or https URL: ${url?.protocol ?? "it cannot be read"}`,
    };
  const protocol = PROTOCOLS.find((one) => one === (of("PROTOCOL") ?? PROTOCOLS[0]));
  if (protocol === undefined)
    return {
      problem: `OTEL_EXPORTER_OTLP_PROTOCOL=${of("PROTOCOL")} is not spoken here: use ${PROTOCOLS.join(" or ")}, for which collectors listen at port 4318.`,
    };
  return {
    url: url.href,
    protocol,
    headers: {
      ...membersOf(env.OTEL_EXPORTER_OTLP_HEADERS),
      ...membersOf(env[`OTEL_EXPORTER_OTLP_${signal}_HEADERS`]),
    },
    isCompressed: of("COMPRESSION") === "gzip",
    timeout_ms: waitOf(of("TIMEOUT"), TELEMETRY_POST_MAX_MS),
  };
};
