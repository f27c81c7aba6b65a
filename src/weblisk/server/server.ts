/** Requests of the wire to answers: the orchestrator and the agents of this machine (weblisk.txt). Knows nothing of sockets. */
import { asObject, asString, type JsonObject } from "../../base/json.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { publicTextOf } from "../identity/algorithms.ts";
import { ORCHESTRATOR } from "../identity/key-files.ts";
import { readBody, type WireBody } from "../wire/body.ts";
import { idsOf, type RequestIds, tokenOf, type WireHeaders } from "../wire/headers.ts";
import { newWireId } from "../wire/ids.ts";
import { answerOfRefusal, refusalOfError, WebliskRefusal, type WireAnswer } from "../wire/refusal.ts";
import { AdminDesk, type AdminTerms } from "./admin.ts";
import { ApprovalDesk } from "./approvals.ts";
import { Channels } from "./channels.ts";
import { EventPost } from "./events.ts";
import { ServerFiles } from "./files.ts";
import { TaskForwarder } from "./forwarding.ts";
import { HealthDesk } from "./health.ts";
import { answerMessage } from "./messages.ts";
import type { ServedAgent, ServerGround, TaskTarget } from "./ports.ts";
import { type RateState, type RateTeller, rateHeaders } from "./rates.ts";
import { AgentRegistry, type WireCaller } from "./registry.ts";
import { RequestIdTable, requestDigest } from "./request-ids.ts";
import { type Endpoint, routeOf, type WireRoute } from "./routes.ts";
import { type TaskAnswer, TaskTable } from "./tasks.ts";
import { TrailReader } from "./trail.ts";

export interface WireRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: WireHeaders;
  /** Reads the body; rejects with a refusal if it has more bytes, or is no JSON by its headers. */
  body(maxBytes: number): Promise<Uint8Array>;
}

interface WireCall {
  readonly route: WireRoute;
  readonly url: string;
  readonly headers: WireHeaders;
  readonly ids: RequestIds;
  readonly told: RateTeller;
  readonly body: WireBody | undefined;
  /** The holder of the token; undefined where none is needed. */
  readonly caller: WireCaller | undefined;
}

const ok = (body: JsonObject): WireAnswer => ({ status: 200, body, headers: {} });

export class WebliskServer {
  private readonly ground: ServerGround;
  private readonly files: ServerFiles;
  private readonly registry: AgentRegistry;
  private readonly channels: Channels;
  private readonly approvals: ApprovalDesk;
  private readonly events: EventPost;
  private readonly trail: TrailReader;
  private readonly forwarder: TaskForwarder;
  /** Also for a gateway that serves the same agents. */
  readonly tasks: TaskTable;
  private readonly health: HealthDesk;
  private readonly requestIds: RequestIdTable;

  constructor(ground: ServerGround) {
    const files = new ServerFiles(ground.stateDir);
    this.files = files;
    this.ground = ground;
    this.registry = new AgentRegistry(ground, files);
    this.channels = new Channels(ground, files, this.registry);
    this.approvals = new ApprovalDesk(ground);
    this.events = new EventPost(ground);
    this.trail = new TrailReader(ground);
    this.forwarder = new TaskForwarder(ground, files, this.registry);
    this.tasks = new TaskTable(ground, files, this.forwarder);
    this.health = new HealthDesk(ground);
    this.requestIds = new RequestIdTable(files);
  }

  /** Never rejects. */
  answer(request: WireRequest): Promise<WireAnswer> {
    return answered(request, this.ground, (ids, told) => this.answerOf(request, ids, told));
  }

  /** The operator's own paths, for a listener of their own. */
  admin(terms: AdminTerms): Pick<WebliskServer, "answer"> {
    const { ground, files, registry, approvals, trail } = this;
    const desk = new AdminDesk({ ...terms, ground, files, registry, approvals, trail });
    return {
      answer: (request) =>
        answered(request, ground, (_, told) =>
          desk.answer(request.method, request.url, request.headers, told),
        ),
    };
  }

  private async answerOf(request: WireRequest, ids: RequestIds, told: RateTeller): Promise<WireAnswer> {
    const { headers, method, url } = request;
    const route = routeOf(method, url);
    // A token in the header is looked at before a byte of the body.
    const isInHeader =
      route.needsToken && (headers.authorization !== undefined || route.bodyMax === undefined);
    const early = isInHeader ? this.callerOf(route, tokenOf(headers)) : undefined;
    const bytes = route.bodyMax === undefined ? undefined : await request.body(route.bodyMax);
    const body = bytes && readBody(bytes, route.bodyMax);
    const caller = route.needsToken
      ? (early ?? this.callerOf(route, tokenOf(headers, body?.value)))
      : undefined;
    const done = async () => this.endpoints[route.endpoint]({ route, url, headers, ids, told, body, caller });
    if (caller === undefined || !ids.isClientsRequest || method === "GET") return done();
    const named = {
      sender: caller.agent.agent_id,
      id: ids.request,
      digest: requestDigest(method, url, bytes ?? new Uint8Array()),
      keepsAnswer: route.keepsAnswer === true,
    };
    return this.requestIds.once(named, this.ground.now(), done);
  }

  private readonly endpoints: Readonly<
    Record<Endpoint, (asked: WireCall) => WireAnswer | Promise<WireAnswer>>
  > = {
    health: async () =>
      ok(
        await this.health.status(ORCHESTRATOR, {
          agents: this.registry.size(),
          channels: this.channels.size(),
        }),
      ),
    register: ({ body, told }) => ok(this.registry.register(body!, told)),
    deregister: ({ caller }) => ok(this.registry.deregister(caller!)),
    services: () => ok(this.registry.directory()),
    channel: ({ body, caller }) => ok(this.channels.open(body!, caller!)),
    task: (asked) => this.execute(this.target(targetIn(asked.body!.value)), asked),
    task_look: async ({ route, caller, told }) =>
      taskAnswer(await this.tasks.look(route.name, caller!, told)),
    task_cancel: async ({ route, caller, told }) =>
      taskAnswer(await this.tasks.cancel(route.name, caller!, told)),
    agent_health: async ({ route }) => ok(await this.health.status(this.served(route.name).name, {})),
    agent_describe: ({ route }) => ok(this.manifestOf(this.served(route.name))),
    agent_execute: (asked) => this.execute(this.served(asked.route.name), asked),
    agent_message: (asked) => ok(this.message(asked)),
    agent_services: ({ route }) => {
      this.served(route.name);
      return ok({ status: "ignored" });
    },
    agent_event: async ({ route, body, caller, told }) =>
      ok(await this.events.take(body!, caller!, told, this.served(route.name).name)),
    pending: async ({ caller, told }) => ok(await this.approvals.pending(caller!, told)),
    approve: async ({ body, caller, told }) => ok(await this.approvals.decide(body!, caller!, told)),
    event: async ({ body, caller, told }) => ok(await this.events.take(body!, caller!, told)),
    audit: async ({ url, caller, told }) => ok(await this.trail.page(url, caller!, told)),
    rotate: ({ body, caller, told }) => ok(this.registry.rotate(body!, caller!, told)),
    unserved: () => {
      throw new WebliskRefusal(
        "NOT_FOUND",
        "This server keeps none; the documentation lists what it serves.",
        {
          reason: "not_served",
        },
      );
    },
  };

  private async execute(
    target: TaskTarget,
    { body, caller, headers, ids, told }: WireCall,
  ): Promise<WireAnswer> {
    const isAsync = /(?:^|[\s,;])respond-async(?:$|[\s,;])/i.test(String(headers.prefer ?? ""));
    const manner = { trace: ids.trace, isAsync, told, orAsks: true };
    return taskAnswer(await this.tasks.execute(target, body!, caller!, manner));
  }

  private callerOf({ endpoint, name }: WireRoute, token: string | undefined): WireCaller {
    return endpoint === "agent_message" ? this.channels.sender(token, name) : this.registry.caller(token);
  }

  private message({ route, body, caller, ids }: WireCall): JsonObject {
    const served = this.served(route.name);
    const key = this.ground.keys.of(served.name);
    const now = Math.floor(this.ground.now() / 1_000);
    return answerMessage(body!, {
      served,
      key,
      caller: caller!,
      id: newWireId(this.ground.randomBytes),
      trace: ids.trace,
      now,
      signing: this.ground.signing,
    });
  }

  private target(name: string): TaskTarget {
    const elsewhere = this.registry.find(name);
    const isServed = elsewhere === undefined || this.ground.agents.some((agent) => agent.name === name);
    return isServed ? this.served(name) : this.forwarder.targetOf(elsewhere);
  }

  private served(name: string): ServedAgent {
    const served = this.ground.agents.find((agent) => agent.name === name);
    if (served === undefined)
      throw new WebliskRefusal("NOT_FOUND", "There is no such agent here; GET /v1/services lists them.", {
        reason: "agent_unknown",
      });
    return served;
  }

  private manifestOf({ name, description, capabilities, max_concurrent }: ServedAgent): JsonObject {
    return {
      name,
      type: "agent",
      version: this.ground.version,
      description,
      url: `${this.ground.url()}/agents/${name}`,
      public_key: publicTextOf(this.ground.keys.of(name)),
      capabilities: capabilities.map((capability) => ({ name: capability })),
      inputs: [{ name: "prompt", type: "text", description: "the task in words" }],
      outputs: [{ name: "text", type: "text", description: "the agent's final answer" }],
      collaborators: [],
      approval: "auto",
      max_concurrent,
      protocol_version: "1",
    };
  }
}

/** The answer of `work`, or the refusal that it throws. Every answer has the ids of its request, and the limit that it met. Never rejects. */
export const answered = async (
  { headers }: WireRequest,
  { randomBytes, tell }: Pick<ServerGround, "randomBytes" | "tell">,
  work: (ids: RequestIds, told: RateTeller) => Promise<WireAnswer>,
): Promise<WireAnswer> => {
  let ids: RequestIds | undefined;
  const met: RateState[] = [];
  const whole = ({ headers: own, ...answer }: WireAnswer): WireAnswer => ({
    ...answer,
    headers: {
      ...own,
      ...rateHeaders(met),
      ...(ids !== undefined && { "x-trace-id": ids.trace, "x-request-id": ids.request }),
    },
  });
  try {
    ids = idsOf(headers, () => newWireId(randomBytes));
    refuseForeignPages(headers);
    return whole(await work(ids, (state) => met.push(state)));
  } catch (cause) {
    const refusal = refusalFor(cause);
    if (refusal.cause !== undefined) tell(refusal.cause);
    return whole(answerOfRefusal(refusal));
  }
};

/** A browser names the page that sends; no page is served here, so each is foreign. */
const refuseForeignPages = ({ origin }: WireHeaders): void => {
  if (origin !== undefined)
    throw new WebliskRefusal("FORBIDDEN", "A page in a browser sent this; send it from a program.", {
      reason: "origin",
    });
};

/** The agent that a task for the orchestrator is for. */
const targetIn = ({ target_agent, target, payload }: JsonObject): string => {
  const name = asString(target_agent) ?? asString(target) ?? asString(asObject(payload)?.target_agent);
  if (name !== undefined) return name;
  throw new WebliskRefusal("INVALID_REQUEST", "The task names no agent; give target_agent.", {
    reason: "target_missing",
  });
};

const taskAnswer = (answer: TaskAnswer): WireAnswer => {
  const { text } = answer;
  const told = (body: JsonObject): WireAnswer => ({ ...ok(body), ...(text !== undefined && { text }) });
  if ("result" in answer) return told(answer.result);
  const { task_id, pending } = answer;
  if (pending !== undefined) return told(pending);
  return {
    status: 202,
    body: { task_id, status: "accepted" },
    headers: { location: `/v1/task/${task_id}`, "preference-applied": "respond-async" },
  };
};

const refusalFor = (cause: unknown): WebliskRefusal => {
  if (cause instanceof WebliskRefusal) return cause;
  if (cause instanceof HoldfastError) return refusalOfError(cause);
  return new WebliskRefusal("INTERNAL_ERROR", "This server failed; its own output says why.", {
    reason: "defect",
    cause,
  });
};
