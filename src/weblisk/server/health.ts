/** HealthStatus (weblisk.txt, Core Types) of a server, a served agent, or a gateway. */
import type { JsonObject } from "../../base/json.ts";
import { WEBLISK_HEALTH_FRESH_MS } from "../../base/limits.ts";
import type { ServerGround, TaskWorkers } from "./ports.ts";

export interface HealthGround extends Pick<ServerGround, "version" | "now"> {
  readonly workers: Pick<TaskWorkers, "isReachable">;
}

export class HealthDesk {
  private readonly ground: HealthGround;
  private readonly since: number;
  /** The last look for the daemon. `until`: as long as it is told, in epoch milliseconds. */
  private reached: { readonly until: number; readonly is: Promise<boolean> } | undefined;

  /** It has begun now. */
  constructor(ground: HealthGround) {
    this.ground = ground;
    this.since = ground.now();
  }

  /** Degraded while the daemon is away: then nothing is begun, though results that are made are still told. */
  async status(name: string, metrics: JsonObject): Promise<JsonObject> {
    const { version, now, workers } = this.ground;
    if (this.reached === undefined || now() >= this.reached.until)
      this.reached = { until: now() + WEBLISK_HEALTH_FRESH_MS, is: workers.isReachable() };
    const isWhole = await this.reached.is;
    const uptime = Math.floor((now() - this.since) / 1_000);
    return {
      name,
      version,
      status: isWhole ? "healthy" : "degraded",
      state: isWhole ? "online" : "degraded",
      uptime_seconds: uptime,
      uptime,
      timestamp: Math.floor(now() / 1_000),
      metrics,
    };
  }
}
