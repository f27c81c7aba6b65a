/** Opens the telemetry of a daemon that has a collector; loaded only then. */
import { hostname } from "node:os";
import { join } from "node:path";
import { Effect, type Scope } from "effect";
import * as z from "zod";
import { readNamed, readSecretFile } from "../../base/files/regular-file.ts";
import { SECRET_MAX_BYTES, TELEMETRY_FILE_MAX_BYTES } from "../../base/limits.ts";
import { readReference } from "../../base/secrets/references.ts";
import { CURSOR } from "../../protocol/cursor.ts";
import type { Environment } from "../paths.ts";
import { type ExporterGround, TelemetryExporter } from "./exporter.ts";
import { OtlpEncoder } from "./otlp.ts";

export interface OpenTelemetryOptions
  extends Pick<ExporterGround, "settings" | "runtime" | "log" | "defects"> {
  readonly stateDir: string;
  readonly version: string;
  readonly env: Environment;
}

export const openExporter = (
  options: OpenTelemetryOptions,
): Effect.Effect<TelemetryExporter, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { settings, stateDir, version } = options;
    const file = join(stateDir, "telemetry.json");
    const attributes = {
      "host.name": hostname(),
      "process.pid": String(process.pid),
      ...settings.resource,
      "holdfast.state_dir": stateDir,
    };
    const encoder = new OtlpEncoder({ service_name: settings.service_name, version, attributes });
    const headers = yield* Effect.promise(() => headersOf(options));
    const exporter = new TelemetryExporter({ ...options, encoder, headers, file, kept: keptIn(file) });
    yield* exporter.run;
    return exporter;
  });

/** A secret that cannot be read is told of, and left out: the collector says what it lacks. */
const headersOf = async ({ settings, env, log }: OpenTelemetryOptions): Promise<Record<string, string>> => {
  const secrets = { variable: (name: string) => env[name], file: readSecretFile(SECRET_MAX_BYTES) };
  const headers: Record<string, string> = {};
  for (const [name, reference] of Object.entries(settings.secret_headers)) {
    try {
      headers[name] = (await readReference(reference, secrets)).value;
    } catch (cause) {
      log("warn", "a header of telemetry is left out", { header: name, cause: (cause as Error).message });
    }
  }
  return headers;
};

const File = z.object({ version: z.literal(1), cursor: z.string().regex(CURSOR) });

/** Without a file that can be read, telemetry begins at the end of the log. */
const keptIn = (file: string): string | undefined => {
  try {
    const bytes = readNamed(file, TELEMETRY_FILE_MAX_BYTES);
    return File.parse(JSON.parse(bytes?.toString("utf8") ?? "")).cursor;
  } catch {
    return undefined;
  }
};
