/** `agent acp`: an agent for editors, over stdin and stdout, by the official SDK. Its sessions are supervised workers. */
import { Readable, Writable } from "node:stream";
import {
  type AgentContext,
  agent,
  ndJsonStream,
  RequestError,
  type SessionInfo,
} from "@agentclientprotocol/sdk";
import { ACP_SESSIONS_MAX } from "../../base/limits.ts";
import { asHoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import type { WorkerSpecInput } from "../../protocol/worker.ts";
import { askedSpec } from "../commands/spawn.ts";
import type { CommandHandler, Context } from "../context.ts";
import { LastingLink } from "../lasting-link.ts";
import { VERSION } from "../package.ts";
import { conversation, namesWorker } from "./conversation.ts";
import { promptText } from "./prompt.ts";
import { AcpSession, requestErrorOf } from "./session.ts";

const PROTOCOL_VERSION = 1;
/** By it the sessions of editors are found again. */
const SESSION_LABEL = { editor: "session" } as const;

/** Serves until the editor closes stdin. The workers go on. */
export const serve: CommandHandler = async (context) => {
  const sessions = new EditorSessions(context);
  const app = agent({ name: "holdfast" })
    .onRequest("initialize", () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: "holdfast", title: "Holdfast", version: VERSION },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { embeddedContext: true },
        sessionCapabilities: { list: {}, resume: {}, close: {} },
      },
    }))
    .onRequest("session/new", ({ params, client }) =>
      answered(async () => ({ sessionId: await sessions.begin(params.cwd, client) })),
    )
    .onRequest("session/load", ({ params, client }) =>
      answered(async () => {
        await (await sessions.attach(params.sessionId, client, true)).replay();
        return {};
      }),
    )
    .onRequest("session/resume", ({ params, client }) =>
      answered(async () => {
        (await sessions.attach(params.sessionId, client, false)).follow();
        return {};
      }),
    )
    .onRequest("session/list", ({ params }) =>
      answered(async () => ({ sessions: [...(await sessions.list(params.cwd ?? undefined))] })),
    )
    .onRequest("session/close", ({ params }) => answered(() => sessions.close(params.sessionId)))
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

  of(id: string): AcpSession {
    const session = this.open.get(id);
    if (session === undefined) throw RequestError.resourceNotFound(id);
    return session;
  }

  /** A new worker; or the one that the command names. */
  async begin(cwd: string, editor: AgentContext): Promise<string> {
    const { call } = this.context;
    const from = await this.link.cursor();
    const named = namesWorker(call) ? await this.workerNamed(call.args[0]!) : undefined;
    const id = named ?? (await this.spawn(cwd));
    this.keep(id, from, editor).follow();
    return id;
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

  private async spawn(cwd: string): Promise<string> {
    const { context, link } = this;
    const { spec: made } = await askedSpec({ ...context, cwd }, conversation(context.call));
    const spec: WorkerSpecInput = { ...made, labels: { ...made.labels, ...SESSION_LABEL } };
    return (await link.ask("agent/spawn", { spec, idempotency_key: crypto.randomUUID() })).id;
  }
}
