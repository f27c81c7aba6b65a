/**
 * Approvals of tasks (weblisk.txt, Status Enum: "recommendations that require human approval before execution"). A recommendation is
 * the request of a worker to use a tool, and its decision is the answer that `agent approvals` gives.
 */
import type { JsonObject } from "../../base/json.ts";
import { WEBLISK_DECISIONS_MAX, WEBLISK_TEXT_MAX_CHARS } from "../../base/limits.ts";
import { asHoldfastError } from "../../protocol/errors.ts";
import { readAs } from "../types/read.ts";
import { ApprovalRequest } from "../types/tasks.ts";
import type { WireBody } from "../wire/body.ts";
import { ulidOfWireId, wireId, wireIdOfUlid } from "../wire/ids.ts";
import { WebliskRefusal } from "../wire/refusal.ts";
import { AGENT, SENDER } from "./labels.ts";
import type { NamedCaller, ServerGround, TaskApproval } from "./ports.ts";
import { type RateTeller, RequestRate } from "./rates.ts";
import type { WireCaller } from "./registry.ts";
import { APPROVE, needs } from "./rights.ts";

const STATUS = { open: "pending", allowed: "accepted", denied: "rejected", withdrawn: "rejected" } as const;

const cut = (text: string): string => text.slice(0, WEBLISK_TEXT_MAX_CHARS);

export const recommendationOf = ({
  id,
  worker,
  state,
  tool,
  title,
  input,
  asked_ms,
}: TaskApproval): JsonObject => ({
  id: wireIdOfUlid(id),
  agent_name: worker.labels[AGENT] ?? "",
  target: cut(tool ?? ""),
  action: "use_tool",
  element: "",
  current: "",
  proposed: cut(input),
  reason: cut(title),
  priority: "medium",
  impact: "",
  status: STATUS[state],
  created_at: Math.floor(asked_ms / 1_000),
});

export class ApprovalDesk {
  private readonly ground: Pick<ServerGround, "workers" | "now">;
  private readonly rate = new RequestRate(WEBLISK_DECISIONS_MAX);

  constructor(ground: Pick<ServerGround, "workers" | "now">) {
    this.ground = ground;
  }

  /** Pending ones: of all tasks for somebody who may decide them, else of the caller's own. */
  async pending({ agent, capabilities }: NamedCaller, told: RateTeller): Promise<JsonObject> {
    this.rate.take(agent.name, this.ground.now(), told);
    const open = await this.ground.workers.approvals();
    const isAll = capabilities.includes(APPROVE);
    const shown = open.filter(({ worker }) => isAll || worker.labels[SENDER] === agent.name);
    return { recommendations: shown.map(recommendationOf) };
  }

  /** Decides each of them. One that cannot be decided says why, and leaves the others. */
  async decide(body: WireBody, caller: WireCaller, told: RateTeller): Promise<JsonObject> {
    needs(caller, APPROVE);
    this.rate.take(caller.agent.name, this.ground.now(), told);
    const { recommendation_ids, decision, reason = "" } = readAs(ApprovalRequest, body.value);
    if (decision === "reject" && reason.trim() === "")
      throw new WebliskRefusal("INVALID_REQUEST", "A rejection needs a reason; say it in one sentence.", {
        reason: "reason_missing",
      });
    const message = cut(`${reason} (${caller.agent.name}, over Weblisk)`.trim());
    const results: JsonObject[] = [];
    // One after the other: an id that is there twice is decided once.
    for (const id of recommendation_ids) results.push(await this.decided(id, decision, message));
    return {
      updated: results.filter(({ is_new }) => is_new).length,
      results: results.map(({ is_new: _, ...told }) => told),
    };
  }

  private async decided(id: string, decision: "accept" | "reject", message: string): Promise<JsonObject> {
    const { workers } = this.ground;
    const [wanted, answer] =
      decision === "accept" ? (["accepted", "allow"] as const) : (["rejected", "deny"] as const);
    const known = wireId(id);
    const found = known === undefined ? undefined : await workers.approval(ulidOfWireId(known));
    if (found === undefined)
      return left(id, "unknown", "There is no such recommendation; GET /v1/approve lists those that wait.");
    const previous = STATUS[found.state];
    if (previous === wanted)
      return { recommendation_id: id, previous_status: previous, new_status: previous };
    try {
      await workers.decide(found.id, answer, message);
    } catch (cause) {
      return left(id, previous, asHoldfastError(cause).message);
    }
    return { recommendation_id: id, previous_status: previous, new_status: wanted, is_new: true };
  }
}

/** It stays as it is. */
const left = (recommendation_id: string, status: string, error: string): JsonObject => ({
  recommendation_id,
  previous_status: status,
  new_status: status,
  error: cut(error),
});
