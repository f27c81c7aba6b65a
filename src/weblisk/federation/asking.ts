/** The other direction: this hub shows itself to a peer, and asks it for tasks (weblisk.txt, Federation). */
import { asObject, asString, type JsonObject } from "../../base/json.ts";
import {
  FEDERATED_TASK_MAX_MS,
  FEDERATION_RENEW_S,
  FEDERATION_RETRY_MS,
  FEDERATION_TRIES_MAX,
} from "../../base/limits.ts";
import { type ErrorCode, HoldfastError } from "../../protocol/errors.ts";
import { answerName, keepsAnswerFor } from "../../protocol/peer-retention.ts";
import type { PeerView } from "../../protocol/replies/peers.ts";
import { ORCHESTRATOR, readRotation } from "../identity/key-files.ts";
import { digestOf } from "../server/results.ts";
import { readAs } from "../types/read.ts";
import { type WireBody, withoutNulls } from "../wire/body.ts";
import { plain, WebliskRefusal } from "../wire/refusal.ts";
import { type CrossedNames, crossedObject } from "./answers.ts";
import {
  checkDeclaration,
  checkNote,
  FederatedResult,
  HubDeclaration,
  metBy,
  sharedWith,
  signedDeclaration,
  signedNote,
} from "./declarations.ts";
import type { HubPost, HubReply } from "./exchange.ts";
import { dropToken, keepToken, keptToken, ownHub, tokenFor } from "./hub-files.ts";
import type { HubGround, OwnHub } from "./ports.ts";

export interface AskingGround extends HubGround {
  readonly stateDir: string;
  readonly post: HubPost;
  readonly pause: (ms: number) => Promise<unknown>;
}

export interface TaskForHub {
  readonly hub_id: string;
  /** 32 hex digits. The same one again is the same task. */
  readonly task_id: string;
  readonly capability: string;
  readonly inputs: JsonObject;
}

/** The answer of another hub, as far as the boundary lets it in. */
export interface HubAnswer {
  readonly hub_id: string;
  readonly task_id: string;
  readonly capability: string;
  readonly output: JsonObject;
  /** Names of members that did not leave, and that did not come in. */
  readonly stripped: readonly string[];
  readonly duration_ms: number;
}

export class HubAsker {
  private readonly ground: AskingGround;

  constructor(ground: AskingGround) {
    this.ground = ground;
  }

  /** weblisk.txt, Peering Handshake, on the side that begins. Fails with PEER_UNTRUSTED, NOT_AUTHORISED or UNAVAILABLE. */
  connect(hub_id: string): Promise<PeerView> {
    return this.met(hub_id).catch(untrusted(hub_id));
  }

  private async met(hub_id: string): Promise<PeerView> {
    const { ground } = this;
    const own = ownHub(ground);
    const peer = await ground.desk.show(hub_id);
    await this.tellRotation(own, peer);
    const capabilities = sharedWith(own, peer);
    const mine = signedDeclaration(ground, own, hub_id, { capabilities });
    const body = await this.told(peer, "peer", mine);
    const said = readAs(HubDeclaration, body.value);
    const { token, expires_at } = said;
    checkDeclaration(body, said, { audience: own.hub_id, now_s: this.seconds() });
    if (said.hub_id !== hub_id || said.in_reply_to !== mine.nonce)
      throw new HoldfastError(
        "PEER_UNTRUSTED",
        `The hub at ${peer.url} is "${said.hub_id.slice(0, 64)}", or answers another request.`,
        {
          suggestion: "Compare the name and the address with its operator: agent peer show",
        },
      );
    const met = await ground.desk.meet(metBy(said, ground.randomBytes));
    if (token !== undefined && expires_at !== undefined) keepToken(ground, { hub_id, token, expires_at });
    const given = tokenFor(ground, own.hub_id, { hub_id, session: met.session! }, capabilities);
    await this.told(met, "peer-accept", signedNote(ground, own, hub_id, given));
    return met;
  }

  /** Has a task done by another hub. Fails with AGENT_FAILED if its agent failed. */
  task(task: TaskForHub): Promise<HubAnswer> {
    return this.doneByHub({ ...task, inputs: withoutNulls(task.inputs) }).catch(untrusted(task.hub_id));
  }

  private async doneByHub({ hub_id, task_id, capability, inputs }: TaskForHub): Promise<HubAnswer> {
    const { desk } = this.ground;
    await this.token(hub_id);
    const peer = await desk.show(hub_id);
    const about = { hub_id, task_id, direction: "out" as const };
    const { value: leaving, crossed } = crossedObject(inputs, peer.data_boundary);
    await desk.admit({ ...about, capability, ...crossed });
    const kept = this.kept(hub_id, task_id);
    if (kept !== undefined) return kept;
    const { said, output, came } = await this.answered(peer, {
      hub_id,
      task_id,
      capability,
      inputs: leaving,
    }).catch(async (cause) => {
      // It is open no longer. A hub that nobody reached may still be at work on it.
      if (!(cause instanceof HoldfastError && cause.code === "UNAVAILABLE"))
        await desk.settle({ ...about, status: "cancelled", ...crossed }).catch(() => undefined);
      throw cause;
    });
    const status = said.status === "success" ? "success" : "failed";
    await desk.settle({ ...about, status, ...came });
    if (status === "failed")
      throw new HoldfastError("AGENT_FAILED", `The agent of ${hub_id} failed: ${codeIn(output)}.`, {
        suggestion: "Ask its operator; its records are there alone.",
      });
    const stripped = [...new Set([...crossed.stripped, ...came.stripped])].sort();
    const answer = { hub_id, task_id, capability, output, stripped, duration_ms: said.duration_ms };
    return this.keep(answer, peer.data_boundary.retention);
  }

  private kept(hub_id: string, task_id: string): HubAnswer | undefined {
    const { vault, now } = this.ground;
    const name = answerName("out", hub_id, task_id);
    const text = vault.open(name, now());
    if (text !== undefined) return JSON.parse(text);
    if (!vault.isOver(name, now())) return undefined;
    throw new HoldfastError("RETENTION_EXPIRED", `The answer of ${hub_id} was kept as long as was agreed.`);
  }

  /** Keeps the answer for a repeat of the command, if the terms say so. */
  private keep(answer: HubAnswer, retention: string): HubAnswer {
    const { vault, now } = this.ground;
    const { hub_id: owner, task_id } = answer;
    const keep_ms = keepsAnswerFor(retention, "out");
    const terms = { until_ms: now() + keep_ms, owner };
    if (keep_ms > 0) vault.seal(answerName("out", owner, task_id), JSON.stringify(answer), terms, now());
    return answer;
  }

  private async answered(
    peer: PeerView,
    task: TaskForHub,
  ): Promise<{
    readonly said: ReturnType<typeof resultIn>;
    readonly output: JsonObject;
    readonly came: CrossedNames;
  }> {
    const body = await this.done(peer, task);
    const said = resultIn(body);
    const own = ownHub(this.ground);
    // Its own time is told: an answer that is given again was signed when the task ended.
    checkNote(body, said, await this.ground.desk.show(peer.hub_id), {
      audience: own.hub_id,
      now_s: said.timestamp,
    });
    if (said.task_id !== task.task_id || said.request_digest !== digestOf(task.inputs))
      throw new HoldfastError("PEER_UNTRUSTED", `The hub ${peer.hub_id} has answered another request.`);
    const { value: output, crossed: came } =
      said.status === "success"
        ? crossedObject(said.output, peer.data_boundary)
        : crossedObject(said.output, { ...peer.data_boundary, allow_fields: [] });
    return { said, output, came };
  }

  /** Sends the task until there is an answer: each time it is the same task. */
  private async done(peer: PeerView, { task_id, capability, inputs }: TaskForHub): Promise<WireBody> {
    const own = ownHub(this.ground);
    const until = this.ground.now() + FEDERATED_TASK_MAX_MS;
    let silent = 0;
    for (let renewed = false; this.ground.now() < until; ) {
      const token = await this.token(peer.hub_id);
      const note = signedNote(this.ground, own, peer.hub_id, { id: task_id, capability, inputs });
      const reply = await this.ground.post(urlOf(peer, "task"), note, token);
      const outcome = await this.outcomeOf(reply, renewed);
      if (outcome === "answered") return (reply as HubReply).body;
      if (outcome === "refused") throw refusedBy(peer.hub_id, reply as HubReply);
      if (outcome === "renew") {
        dropToken(this.ground, peer.hub_id);
        renewed = true;
      }
      silent = outcome === "silent" ? silent + 1 : 0;
      if (silent >= FEDERATION_TRIES_MAX) throw unreachable(peer, task_id);
      if (outcome === "silent") await this.ground.pause(FEDERATION_RETRY_MS);
    }
    throw new HoldfastError("TIMEOUT", `The hub ${peer.hub_id} has not ended the task in an hour.`, {
      suggestion: `Ask again: agent peer task --id ${task_id}`,
    });
  }

  private async outcomeOf(
    reply: HubReply | "silent" | "slow",
    renewed: boolean,
  ): Promise<"answered" | "refused" | "renew" | "again" | "silent"> {
    if (reply === "slow") return "again";
    if (reply === "silent") return "silent";
    if (reply.status === 200) return "answered";
    if (reply.status === 504) return "again";
    if (reply.status === 502 || reply.status === 503) return "silent";
    return reply.status === 401 && !renewed ? "renew" : "refused";
  }

  /** The kept token, or that of a new handshake. */
  private async token(hub_id: string): Promise<string> {
    const kept = keptToken(this.ground, hub_id);
    if (kept !== undefined && kept.expires_at > this.seconds() + FEDERATION_RENEW_S) return kept.token;
    await this.met(hub_id);
    const given = keptToken(this.ground, hub_id);
    if (given !== undefined) return given.token;
    throw new HoldfastError("NOT_AUTHORISED", `The hub ${hub_id} gives no token.`, {
      suggestion: "Ask its operator.",
    });
  }

  /** A peer that does not know of a change of this hub's key would refuse the new one. */
  private async tellRotation({ hub_id }: OwnHub, peer: PeerView): Promise<void> {
    const rotation = readRotation(this.ground.stateDir, ORCHESTRATOR);
    if (rotation !== undefined) await this.ground.post(urlOf(peer, "key-rotate"), { hub_id, rotation });
  }

  private async told(peer: PeerView, path: string, note: JsonObject): Promise<WireBody> {
    const reply = await this.ground.post(urlOf(peer, path), note);
    if (typeof reply === "string") throw unreachable(peer);
    if (reply.status !== 200) throw refusedBy(peer.hub_id, reply);
    return reply.body;
  }

  private seconds(): number {
    return Math.floor(this.ground.now() / 1_000);
  }
}

/** An answer that breaks a rule of the wire, or that its hub has not signed. */
const untrusted =
  (hub_id: string) =>
  (cause: unknown): never => {
    if (!(cause instanceof WebliskRefusal)) throw cause;
    throw new HoldfastError(
      "PEER_UNTRUSTED",
      `The answer of ${hub_id} is not believed: ${plain(cause.message)}`,
      {
        suggestion: "Compare its key and its address with its operator: agent peer show",
        cause,
      },
    );
  };

const urlOf = ({ url }: Pick<PeerView, "url">, path: string): string =>
  `${url.replace(/\/+$/, "")}/v1/federation/${path}`;

const resultIn = (body: WireBody) => readAs(FederatedResult, body.value);

const codeIn = ({ error }: JsonObject): string =>
  plain(asString(asObject(error)?.code) ?? "no reason is told");

const unreachable = ({ hub_id, url }: Pick<PeerView, "hub_id" | "url">, task_id?: string): HoldfastError =>
  new HoldfastError("UNAVAILABLE", `The hub ${hub_id} does not answer at ${url}.`, {
    suggestion: `See whether its gateway runs, and whether the address is right: agent peer show ${hub_id}${task_id === undefined ? "" : `. Then ask for the same task again: agent peer task --id ${task_id}`}`,
  });

/** Codes of the wire that say the same as one of ours. */
const CODES: Readonly<Record<string, ErrorCode>> = {
  PEER_UNTRUSTED: "PEER_UNTRUSTED",
  CAPABILITY_DENIED: "CAPABILITY_DENIED",
  DATA_BOUNDARY_VIOLATION: "BOUNDARY_VIOLATION",
  RATE_LIMITED: "RATE_LIMITED",
  INVALID_REQUEST: "INVALID_REQUEST",
  RETENTION_EXPIRED: "RETENTION_EXPIRED",
  AGENT_UNREACHABLE: "UNAVAILABLE",
  INTERNAL_ERROR: "UNAVAILABLE",
};

const refusedBy = (hub_id: string, { body }: HubReply): HoldfastError => {
  const { error, code, retry_after } = body.value;
  const named = asString(code) ?? "";
  const ours = (Object.hasOwn(CODES, named) ? CODES[named] : undefined) ?? "NOT_AUTHORISED";
  return new HoldfastError(
    ours,
    `The hub ${hub_id} refuses: ${plain(asString(error) ?? "it does not say why")}`,
    {
      suggestion: "Ask its operator, or compare the terms: agent peer show",
      ...(typeof retry_after === "number" && { retry_after_s: retry_after }),
    },
  );
};
