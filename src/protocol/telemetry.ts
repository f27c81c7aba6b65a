/** `telemetry:` of config.yaml: the collector of OpenTelemetry, for a daemon without the standard variables. */
import * as z from "zod";
import { TELEMETRY_HEADERS_MAX } from "../base/limits.ts";
import { HttpUrl, SecretReference } from "./providers.ts";

export const TelemetryConfiguration = z.strictObject({
  /** The collector's address for OTLP over HTTP, before `/v1/traces`. */
  endpoint: HttpUrl,
  /** Headers of each post. */
  headers: z
    .record(
      z.string().regex(/^[\w-]{1,64}$/, "a header's name has letters, digits, '_' and '-'"),
      SecretReference,
    )
    .refine(
      (all) => Object.keys(all).length <= TELEMETRY_HEADERS_MAX,
      `there are at most ${TELEMETRY_HEADERS_MAX} headers`,
    )
    .default({}),
  /** Also the attributes and metrics of the conventions for generative AI, which are not stable. */
  gen_ai: z.boolean().default(false),
});
export type TelemetryConfiguration = z.output<typeof TelemetryConfiguration>;
