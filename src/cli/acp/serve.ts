/** `agent acp`: an agent for editors, over stdin and stdout, by the official SDK. Its sessions are supervised workers. */
import { Readable, Writable } from "node:stream";
import {
  type AgentContext,
  agent,
  type McpServer,
  ndJsonStream,
  RequestError,
  type SessionInfo,
  type SessionModeState,
} from "@agentclientprotocol/sdk";
import { ACP_SESSIONS_MAX } from "../../base/limits.ts";
import { asHoldfastError, HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import type { WorkerSpecInput } from "../../protocol/worker.ts";
import { addedKind } from "../commands/added-kinds.ts";
import { askedSpec } from "../commands/spawn.ts";
import type { CommandHandler, Context } from "../context.ts";
import { LastingLink } from "../lasting-link.ts";
import { VERSION } from "../package.ts";
import { conversation, namesWorker } from "./conversation.ts";
import { modeOf, modesOf } from "./modes.ts";
import { promptText } from "./prompt.ts";
import { editorServers, unknownServers } from "./servers.ts";
import { AcpSession, requestErrorOf } from "./session.ts";

const PROTOCOL_VERSION = 1;
/** By it the sessions of editors are found again. */
const SESSION_LABEL = { editor: "session" } as const;

/** Serves until the editor closes stdin. The workers go on. */
export const serve: CommandHandler = async (context) => {
  const sessions = new EditorSessions(context);
  await sessions.check();
  const app = agent({ name: "holdfast" })
    .onRequest("initialize", () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: "holdfast", title: "Holdfast", version: VERSION },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { embeddedContext: true },
        mcpCapabilities: { http: true },
        sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
      },
    }))
    .onRequest("session/new", ({ params, client }) =>
      answered(async () => {
        const id = await sessions.begin(params.cwd, params.mcpServers, client);
        return { sessionId: id, modes: await sessions.modes(id) };
      }),
    )
    .onRequest("session/load", ({ params, client }) =>
      answered(async () => {
        await sessions.checkServers(params.sessionId, params.mcpServers);
        await (await sessions.attach(params.sessionId, client, true)).replay();
        return { modes: await sessions.modes(params.sessionId) };
      }),
    )
    .onRequest("session/resume", ({ params, client }) =>
      answered(async () => {
        await sessions.checkServers(params.sessionId, params.mcpServers ?? []);
        (await sessions.attach(params.sessionId, client, false)).follow();
        return { modes: await sessions.modes(params.sessionId) };
      }),
    )
    .onRequest("session/list", ({ params }) =>
      answered(async () => ({ sessions: [...(await sessions.list(params.cwd ?? undefined))] })),
    )
    .onRequest("session/set_mode", ({ params }) =>
      answered(() => sessions.setMode(params.sessionId, params.modeId)),
    )
    .onRequest("session/close", ({ params }) => answered(() => sessions.close(params.sessionId)))
    .onRequest("session/delete", ({ params }) => answered(() => sessions.remove(params.sessionId)))
    .onRequest("session/prompt", async ({ params }) => ({
      stopReason: await sessions.of(params.sessionId).prompt(promptText(params.prompt)),
    }))
    .onNotification("session/cancel", ({ params }) => sessions.of(params.sessionId).cancel());
  const connection = app.connect(
    ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>),
  );
  await connection.closed;
  sessions.end();
  return success({});
};

const answered = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (cause) {
    throw cause instanceof RequestError ? cause : requestErrorOf(asHoldfastError(cause));
  }
};

class EditorSessions {
  private readonly context: Context;
  private readonly link: LastingLink;
  private readonly gone = new AbortController();
  private readonly open = new Map<string, AcpSession>();

  constructor(context: Context) {
    this.context = context;
    this.link = new LastingLink(context.connect);
  }

  end(): void {
    this.gone.abort();
  }

  /** Fails if the command's word is neither a kind nor a worker. */
  async check(): Promise<void> {
    const { call } = this.context;
    const word = call.args[0]!;
    if (!namesWorker(call) || (await this.workerNamed(word)) !== undefined) return;
    try {
      await this.link.outlasting((client) => addedKind(this.context, client, word));
    } catch (cause) {
      if (asHoldfastError(cause).code !== "INVALID_AGENT_KIND") throw cause;
      throw new HoldfastError(
        "INVALID_AGENT_KIND",
        `There is no kind and no worker ${JSON.stringify(word)}.`,
        {
          suggestion: "Choose a kind of agent capabilities, or a worker of agent list.",
        },
      );
    }
  }

  of(id: string): AcpSession {
    const session = this.open.get(id);
    if (session === undefined) throw RequestError.resourceNotFound(id);
    return session;
  }

  /** A new worker; or the one that the command names. */
  async begin(cwd: string, servers: readonly McpServer[], editor: AgentContext): Promise<string> {
    const { call } = this.context;
    const from = await this.link.cursor();
    const named = namesWorker(call) ? await this.workerNamed(call.args[0]!) : undefined;
    const id = named ?? (await this.spawn(cwd, servers));
    this.keep(id, from, editor).follow();
    return id;
  }

  /** Fails for a server that the session did not begin with: the agent has those of its spec. */
  async checkServers(id: string, servers: readonly McpServer[]): Promise<void> {
    const { spec } = await this.link.ask("agent/info", { id });
    const unknown = unknownServers(servers, spec.mcp);
    if (unknown.length === 0) return;
    throw new HoldfastError(
      "UNSUPPORTED_CAPABILITY",
      `The session began without these MCP servers, and takes none later: ${unknown.join(", ")}.`,
      { suggestion: "Begin a new session for them, or load this one without them." },
    );
  }

  async attach(id: string, editor: AgentContext, fromBeginning: boolean): Promise<AcpSession> {
    const worker = await this.worker(id);
    const from = await this.link.cursor();
    return this.keep(worker, from, editor, fromBeginning ? 0 : undefined);
  }

  /** The newest sessions of editors, those of one directory if it is given. */
  async list(cwd: string | undefined): Promise<readonly SessionInfo[]> {
    const asked = { all: true, labels: SESSION_LABEL, sort: "-created", limit: ACP_SESSIONS_MAX } as const;
    const { workers } = await this.link.ask("agent/list", asked);
    const infos = await Promise.all(workers.map(({ id }) => this.link.ask("agent/info", { id })));
    return infos
      .filter(({ spec }) => cwd === undefined || spec.cwd === cwd)
      .map(({ id, name, task, spec, last_event_at, created_at }) => ({
        sessionId: id,
        cwd: spec.cwd,
        title: name ?? task,
        updatedAt: last_event_at ?? created_at,
      }));
  }

  /** Null where a mode would change nothing. */
  async modes(id: string): Promise<SessionModeState | null> {
    const { spec } = await this.link.ask("agent/info", { id });
    return modesOf(spec.permission, this.of(id).mode) ?? null;
  }

  async setMode(id: string, mode: string): Promise<object> {
    const session = this.of(id);
    const { spec } = await this.link.ask("agent/info", { id });
    session.mode = modeOf(spec.permission, mode);
    return {};
  }

  /** Kills and archives the worker of an editor's session. */
  async remove(ref: string): Promise<object> {
    const { id, labels, ended_at } = await this.link.ask("agent/info", { id: ref });
    if (labels.editor !== SESSION_LABEL.editor)
      throw new HoldfastError("INVALID_REQUEST", `No editor began ${ref}, so none can delete it.`, {
        suggestion: `agent kill ${ref} ends it, and agent archive ${ref} takes it out of lists.`,
      });
    this.open.get(id)?.end();
    this.open.delete(id);
    const key = () => ({ ids: [id], idempotency_key: crypto.randomUUID() });
    if (ended_at === null)
      await this.link.ask("agent/kill", { ...key(), reason: "An editor deleted its session." });
    await this.link.ask("agent/archive", key());
    return {};
  }

  /** Ends the agent's input: it finishes its turn, and ends. */
  async close(id: string): Promise<object> {
    this.of(id).end();
    this.open.delete(id);
    await this.link.ask("agent/send", { id, close: true, idempotency_key: crypto.randomUUID() });
    return {};
  }

  private keep(id: string, from: string, editor: AgentContext, seq?: number): AcpSession {
    const ground = { id, link: this.link, editor, closed: this.gone.signal };
    this.open.get(id)?.end();
    const session = new AcpSession(ground, from, seq);
    this.open.set(id, session);
    return session;
  }

  private async worker(ref: string): Promise<string> {
    return (await this.link.ask("agent/info", { id: ref })).id;
  }

  /** Undefined if there is none: the word may be a kind of the user's configuration. */
  private workerNamed(ref: string): Promise<string | undefined> {
    return this.worker(ref).catch((cause) => {
      if (asHoldfastError(cause).code === "WORKER_NOT_FOUND") return undefined;
      throw cause;
    });
  }

  private async spawn(cwd: string, servers: readonly McpServer[]): Promise<string> {
    const { context, link } = this;
    const { mcp, variables } = editorServers(servers);
    const place = { ...context, cwd, env: { ...context.env, ...variables } };
    const { spec: made } = await askedSpec(place, conversation(context.call), mcp);
    const spec: WorkerSpecInput = { ...made, labels: { ...made.labels, ...SESSION_LABEL } };
    return (await link.ask("agent/spawn", { spec, idempotency_key: crypto.randomUUID() })).id;
  }
}
