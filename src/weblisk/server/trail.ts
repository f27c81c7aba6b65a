/** The audit trail of federation over HTTP (notes 2.2, GET /v1/audit): pages of the chain, in its order. */
import type { JsonObject } from "../../base/json.ts";
import { WEBLISK_TRAIL_LOOKS_MAX, WEBLISK_TRAIL_PAGE_MAX } from "../../base/limits.ts";
import { WebliskRefusal } from "../wire/refusal.ts";
import type { NamedCaller, ServerGround } from "./ports.ts";
import { type RateTeller, RequestRate } from "./rates.ts";
import { AUDIT, needs } from "./rights.ts";

/** Members by which entries are chosen, each by equality. */
const CHOICES = ["actor", "action", "target"] as const;

export class TrailReader {
  private readonly ground: Pick<ServerGround, "workers" | "now">;
  private readonly rate = new RequestRate(WEBLISK_TRAIL_LOOKS_MAX);

  constructor(ground: Pick<ServerGround, "workers" | "now">) {
    this.ground = ground;
  }

  /** One page. `next_cursor` is there until the trail ends; a page may be empty, if its entries were not chosen. */
  async page(url: string, caller: NamedCaller, told: RateTeller): Promise<JsonObject> {
    needs(caller, AUDIT);
    this.rate.take(caller.agent.name, this.ground.now(), told);
    const query = new URLSearchParams(url.split("?")[1] ?? "");
    const since = countIn(query, "since", 0);
    const limit = Math.min(
      WEBLISK_TRAIL_PAGE_MAX,
      Math.max(1, countIn(query, "limit", WEBLISK_TRAIL_PAGE_MAX)),
    );
    const { entries, next, is_end } = await this.ground.workers.trail(countIn(query, "cursor", 0), limit);
    const chosen = entries.filter(
      (entry) =>
        Number(entry.timestamp) >= since &&
        CHOICES.every((name) => !query.has(name) || entry[name] === query.get(name)),
    );
    return {
      entries: chosen.map(({ seq: _, ...entry }) => entry),
      ...(!is_end && { next_cursor: String(next) }),
    };
  }
}

const countIn = (query: URLSearchParams, name: string, otherwise: number): number => {
  const text = query.get(name);
  if (text === null) return otherwise;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new WebliskRefusal("INVALID_REQUEST", `${name} is no whole number; leave it out, or correct it.`, {
    reason: "query_malformed",
  });
};
