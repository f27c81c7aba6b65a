/**
 * Tasks for agents that have registered from elsewhere (notes 2.2, POST /v1/task): each goes to the address in its agent's manifest, as
 * it came and with a token for this task alone. The first result that the agent has signed is kept, and then it is never asked again.
 * An attempt belongs to nobody's request: a sender that is gone finds the result later.
 */
import type { JsonObject } from "../../base/json.ts";
import {
  WEBLISK_BUSY_RETRY_S,
  WEBLISK_CANCEL_WAIT_MS,
  WEBLISK_FILE_MAX_BYTES,
  WEBLISK_FORWARD_KEEP_MS,
  WEBLISK_FORWARD_MAX_MS,
  WEBLISK_FORWARDS_MAX,
  WEBLISK_RESULT_TIDY_MS,
} from "../../base/limits.ts";
import { saysItsAddress } from "../../base/orchestrator-url.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { verifierOf } from "../identity/algorithms.ts";
import { profileOfSignature } from "../signing/operations.ts";
import { TOKEN_LIFETIMES_S } from "../signing/tokens.ts";
import { readAs } from "../types/read.ts";
import { TaskResult } from "../types/tasks.ts";
import type { WireBody } from "../wire/body.ts";
import { newWireId, wireId } from "../wire/ids.ts";
import { textOfMembers } from "../wire/raw-members.ts";
import { WebliskRefusal } from "../wire/refusal.ts";
import type { ServerFiles } from "./files.ts";
import { type ForwardedRequest, forwardedRequest, goesOn, refusalOfReply, unreachable } from "./forwarded.ts";
import { grantedTo, type RegisteredAgent } from "./grants.ts";
import type { ServerGround, TaskTarget } from "./ports.ts";
import type { AgentRegistry } from "./registry.ts";
import { MESSAGE, RECEIVE } from "./rights.ts";

const TIDY = { keep_ms: WEBLISK_FORWARD_KEEP_MS, every_ms: WEBLISK_RESULT_TIDY_MS };

/** A task that went elsewhere, as a file: whose it is, and nothing of what it says. */
export interface KeptForward {
  readonly agent: string;
  /** Another holder of the name has another id. */
  readonly agent_id: string;
  readonly from: string;
  readonly request_digest: string;
  /** Epoch milliseconds. */
  readonly given_ms: number;
  readonly deadline_ms?: number;
}

type ForwardOrder = Omit<ForwardedRequest, "token" | "attempt" | "services">;

type TokenFacts = Pick<ForwardOrder, "task_id" | "caller">;

/** A result, or one for now that waits for an approval. */
type TaskOutcome =
  | { readonly result: JsonObject; readonly text: string }
  | { readonly pending: JsonObject; readonly text: string };

/** The end of an attempt; without a result, the reason. */
type ForwardEnd = TaskOutcome | { readonly refusal: WebliskRefusal };

export interface ForwardAttempt {
  readonly agent: string;
  readonly end: Promise<ForwardEnd>;
}

export class TaskForwarder {
  private readonly ground: ServerGround;
  private readonly files: ServerFiles;
  private readonly registry: AgentRegistry;
  /** By the ids of their tasks. */
  private readonly attempts = new Map<string, ForwardAttempt>();

  constructor(ground: ServerGround, files: ServerFiles, registry: AgentRegistry) {
    this.ground = ground;
    this.files = files;
    this.registry = registry;
  }

  /** A registered agent to which a person lets tasks go. Throws FORBIDDEN for another one: an address in a manifest is anybody's choice. */
  targetOf(elsewhere: RegisteredAgent): TaskTarget {
    const { name, asked, max_concurrent = 1 } = elsewhere;
    if (!grantedTo(this.files, elsewhere).includes(RECEIVE))
      throw new WebliskRefusal(
        "FORBIDDEN",
        `No task goes to ${name}; a person allows it: agent weblisk grant ${name} ${[...asked.filter((one) => one !== RECEIVE), RECEIVE].join(" ")}.`,
        { reason: "agent_takes_no_tasks" },
      );
    const needed = new Set([MESSAGE, ...asked]);
    needed.delete(RECEIVE);
    return { name, capabilities: [...needed], max_concurrent, elsewhere };
  }

  known(task_id: string): KeptForward | undefined {
    this.files.tidy("forwards", this.ground.now(), TIDY);
    return this.files.read<KeptForward>("forwards", task_id);
  }

  /** Gives the task to its agent, unless an attempt goes on. Throws if there is no place, or no time, for it. */
  give(asked: ForwardOrder, agent: RegisteredAgent, kept: KeptForward): ForwardAttempt {
    const { task_id } = asked;
    const found = this.attempts.get(task_id);
    if (found !== undefined) return found;
    const now = this.ground.now();
    if (kept.agent_id !== agent.agent_id) throw replaced();
    if (kept.deadline_ms !== undefined && kept.deadline_ms <= now) throw tooLate(agent.name);
    if (agent.expires_at * 1_000 <= now)
      throw unreachable(agent.name, "its registration is over", "agent_offline");
    const { name, max_concurrent = 1 } = agent;
    const busy = [...this.attempts.values()].filter((attempt) => attempt.agent === name).length;
    const isFull = max_concurrent > 0 && busy >= max_concurrent;
    if (isFull || this.attempts.size >= WEBLISK_FORWARDS_MAX)
      throw new WebliskRefusal(
        "RATE_LIMITED",
        `${isFull ? name : "This server"} works on ${isFull ? busy : this.attempts.size} tasks; try again later.`,
        { reason: "max_concurrent", retry_after: WEBLISK_BUSY_RETRY_S },
      );
    // A repeat finds who has the task, also after a kill between here and the answer.
    this.files.writeOnce("forwards", task_id, kept, newWireId(this.ground.randomBytes));
    const end = this.tried(asked, agent, kept).finally(() => this.attempts.delete(task_id));
    const attempt = { agent: name, end };
    this.attempts.set(task_id, attempt);
    return attempt;
  }

  /** The one that goes on. */
  attempt(task_id: string): ForwardAttempt | undefined {
    return this.attempts.get(task_id);
  }

  /** Undefined if it goes on after `within_ms`. Throws if there will be no result of this attempt. */
  async ended(attempt: ForwardAttempt | undefined, within_ms: number): Promise<TaskOutcome | undefined> {
    if (attempt === undefined)
      throw new WebliskRefusal("NOT_FOUND", "No agent is at work on the task; send its request again.", {
        reason: "task_not_taken",
      });
    const over = new AbortController();
    const waited = this.ground.pause(within_ms, over.signal).then(
      () => undefined,
      () => undefined,
    );
    const end = await Promise.race([attempt.end, waited]);
    over.abort();
    if (end !== undefined && "refusal" in end) throw end.refusal;
    return end;
  }

  /**
   * Asks the agent to end the task, at the path below its address that a task has here too (notes 7.2). Its signed result, or undefined
   * if it ends the task without one yet. Throws what the agent refuses, and 409 if it knows no such path.
   */
  async cancel(asked: TokenFacts, kept: KeptForward): Promise<TaskOutcome | undefined> {
    const { task_id } = asked;
    const agent = this.registry.find(kept.agent);
    if (agent === undefined || agent.agent_id !== kept.agent_id) throw replaced();
    this.targetOf(agent);
    const reply = await this.ground
      .exchange({
        method: "DELETE",
        url: new URL(`${agent.url.replace(/\/+$/, "")}/v1/task/${task_id}`),
        isPrivateAllowed: saysItsAddress(agent.url),
        timeout_ms: WEBLISK_CANCEL_WAIT_MS,
        headers: {
          authorization: `Bearer ${this.tokenFor(asked, agent)}`,
          "x-request-id": newWireId(this.ground.randomBytes),
        },
      })
      .catch((cause) => {
        throw refusalFor(agent.name, cause);
      });
    if (reply === "silent" || reply === "slow")
      throw unreachable(agent.name, "nobody answers at its address");
    if (HAS_NO_END.has(reply.status)) throw atItsAgent(agent.name);
    if (reply.status >= 300) throw refusalOfReply(agent.name, reply);
    const proof = reply.body?.value.signature;
    const end = proof === undefined ? undefined : this.proven(task_id, kept, reply.body!);
    if (end !== undefined) return end;
    const attempt = this.attempts.get(task_id);
    return attempt && this.ended(attempt, WEBLISK_CANCEL_WAIT_MS);
  }

  /** One request to the agent. Never rejects. */
  private async tried(asked: ForwardOrder, agent: RegisteredAgent, kept: KeptForward): Promise<ForwardEnd> {
    const { task_id } = asked;
    const now = this.ground.now();
    const timeout_ms = Math.min(WEBLISK_FORWARD_MAX_MS, (kept.deadline_ms ?? Number.POSITIVE_INFINITY) - now);
    try {
      const reply = await this.ground.exchange({
        method: "POST",
        url: new URL(`${agent.url.replace(/\/+$/, "")}/v1/execute`),
        isPrivateAllowed: saysItsAddress(agent.url),
        timeout_ms,
        ...forwardedRequest({
          ...asked,
          token: this.tokenFor(asked, agent),
          attempt: newWireId(this.ground.randomBytes),
          services: this.registry.directory(),
        }),
      });
      if (reply === "slow")
        return { refusal: kept.deadline_ms === undefined ? goesOn() : tooLate(agent.name) };
      if (reply === "silent") return { refusal: unreachable(agent.name, "nobody answers at its address") };
      if (reply.status !== 200 || reply.body === undefined)
        return { refusal: refusalOfReply(agent.name, reply) };
      return this.proven(task_id, kept, reply.body);
    } catch (cause) {
      return { refusal: refusalFor(agent.name, cause) };
    }
  }

  /** weblisk.txt, WLT Token Format: for this task, and of no use at this server. Its rights are those that both have. */
  private tokenFor({ task_id, caller }: TokenFacts, { asked }: RegisteredAgent): string {
    const iat = Math.floor(this.ground.now() / 1_000);
    const exp = iat + TOKEN_LIFETIMES_S.channel;
    const cap = caller.capabilities.filter((capability) => asked.includes(capability));
    return this.registry.issue({ sub: caller.agent.name, iat, exp, cap, cid: task_id });
  }

  /** A result that the holder of the agent's name has signed, for this task; it is kept, if it is the last one. */
  private proven(task_id: string, kept: KeptForward, body: WireBody): TaskOutcome {
    const said = readAs(TaskResult, body.value);
    const agent = this.registry.find(kept.agent);
    const verifier =
      agent?.agent_id === kept.agent_id
        ? verifierOf({ algorithm: agent.algorithm, publicKey: agent.public_key })
        : undefined;
    const isSigned =
      verifier !== undefined &&
      [said.signature, said.signature_jcs].some(
        (proof) => profileOfSignature(verifier, "result", body, proof, this.ground.signing) !== undefined,
      );
    if (!isSigned || wireId(said.task_id) !== task_id)
      throw unreachable(kept.agent, "its answer is not signed by its key, for this task", "result_unproven");
    // Another order of members would be another text, and no signature would hold for it.
    const text = textOfMembers(body.raw);
    if (said.status === "pending_approval") return { pending: body.value, text };
    const { agent: name, from, request_digest } = kept;
    const result = { agent: name, from, request_digest, result: body.value, text };
    if (Buffer.byteLength(JSON.stringify(result)) >= WEBLISK_FILE_MAX_BYTES)
      throw unreachable(kept.agent, "its answer is too large", "result_too_large");
    return this.files.writeOnce("results", task_id, result, newWireId(this.ground.randomBytes));
  }
}

/** Statuses of a server that has no such path, or no such method. */
const HAS_NO_END: ReadonlySet<number> = new Set([404, 405, 501]);

const replaced = (): WebliskRefusal =>
  new WebliskRefusal("NOT_FOUND", "The agent that had the task is gone; give a new task.", {
    reason: "agent_replaced",
  });

const atItsAgent = (agent: string): WebliskRefusal =>
  new WebliskRefusal(
    "INVALID_REQUEST",
    `The task is at ${agent}, which ends no tasks by request; give tasks of such agents a deadline.`,
    { reason: "task_elsewhere", http: 409 },
  );

const tooLate = (agent: string): WebliskRefusal =>
  new WebliskRefusal("AGENT_TIMEOUT", `${agent} has not ended the task in its time; give a new task.`, {
    reason: "deadline_passed",
    retryable: false,
  });

/** An answer that breaks a rule of the wire, or an address to which nothing connects. */
const refusalFor = (agent: string, cause: unknown): WebliskRefusal => {
  if (cause instanceof WebliskRefusal && cause.code === "AGENT_UNREACHABLE") return cause;
  if (cause instanceof WebliskRefusal)
    return unreachable(agent, "its answer breaks a rule of the wire", "answer_unreadable");
  if (cause instanceof HoldfastError)
    return unreachable(agent, "nothing may connect to its address", "address_forbidden");
  return new WebliskRefusal("INTERNAL_ERROR", "This server failed; its own output says why.", {
    reason: "defect",
    cause,
  });
};
