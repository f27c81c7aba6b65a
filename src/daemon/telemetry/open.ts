/** Opens the telemetry of a daemon that has a collector; loaded only then. */
import { hostname } from "node:os";
import { join } from "node:path";
import { Effect, type Scope } from "effect";
import { readSecretFile } from "../../base/files/regular-file.ts";
import { SECRET_MAX_BYTES } from "../../base/limits.ts";
import { readReference } from "../../base/secrets/references.ts";
import type { RuntimeApi } from "../../runtime/api.ts";
import type { Environment } from "../paths.ts";
import type { TelemetryApi } from "../telemetry-api.ts";
import type { TelemetrySettings } from "./settings.ts";
import { type TelemetryGround, TelemetryThread } from "./thread-handle.ts";

export interface OpenTelemetryOptions extends TelemetryGround {
  readonly runtime: TelemetryGround["runtime"] & Pick<RuntimeApi, "epoch">;
  readonly settings: TelemetrySettings;
  readonly stateDir: string;
  readonly version: string;
  readonly env: Environment;
}

export const openExporter = (
  options: OpenTelemetryOptions,
): Effect.Effect<TelemetryApi, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { settings, stateDir, version } = options;
    const attributes = {
      "host.name": hostname(),
      "process.pid": String(process.pid),
      ...settings.resource,
      "holdfast.state_dir": stateDir,
    };
    const thread = new TelemetryThread(options, {
      settings,
      headers: yield* Effect.promise(() => headersOf(options)),
      source: { service_name: settings.service_name, version, attributes },
      log_file: join(stateDir, "holdfast.db"),
      epoch: options.runtime.epoch,
      cursor_file: join(stateDir, "telemetry.json"),
    });
    yield* Effect.forkScoped(thread.run);
    return thread;
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
