/**
 * One session of an editor: a supervised worker, followed by a cursor. The agent behind it and the daemon may end and begin
 * again; the editor is shown each record once.
 */
import { setTimeout as sleep } from "node:timers/promises";
import {
  type AgentContext,
  RequestError,
  type RequestPermissionResponse,
  type StopReason,
} from "@agentclientprotocol/sdk";
import { ACP_CATCH_UP_MAX_MS, ACP_DAEMON_LOOK_MS } from "../../base/limits.ts";
import { cursorOf, partsOf, type StartCursor } from "../../protocol/cursor.ts";
import { asHoldfastError, type ErrorCode, type HoldfastError, isUnreached } from "../../protocol/errors.ts";
import type { Permission } from "../../protocol/permission.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { ApprovalRequested } from "../../protocol/talk-records.ts";
import type { LastingLink } from "../lasting-link.ts";
import { messageText, updatesOf } from "./updates.ts";

/** Errors of a turn that the protocol has a word for. */
const STOPS: Readonly<Partial<Record<ErrorCode, StopReason>>> = {
  MAX_TURNS: "max_turn_requests",
  OUTPUT_TOO_LARGE: "max_tokens",
};

const OPTIONS = [
  { optionId: "allow", name: "Allow", kind: "allow_once" },
  { optionId: "deny", name: "Deny", kind: "reject_once" },
] as const;

/** -32603 of JSON-RPC, with the sentence and the code of the error. */
export const requestErrorOf = ({ code, message, info }: HoldfastError): RequestError =>
  new RequestError(-32603, [message, info.suggestion].filter(Boolean).join(" "), { code });

interface EditorGround {
  readonly id: string;
  readonly link: LastingLink;
  readonly editor: Pick<AgentContext, "notify" | "request">;
  /** Aborted when the editor has gone. */
  readonly closed: AbortSignal;
}

export class AcpSession {
  /** The answer to requests for permission, or that the editor is asked. It ends with this editor, so that nobody allows unseen. */
  mode: Permission = "ask";
  private readonly ground: EditorGround;
  private readonly ended = new AbortController();
  private readonly epoch: string;
  /** The newest record that the editor was shown. */
  private seq: number;
  /** Prompts of this editor whose records have not come yet: the editor shows them itself. */
  private readonly ownPrompts: string[] = [];
  /** Permission requests that wait for this editor. */
  private readonly asking = new Map<string, AbortController>();
  private following: Promise<void> | undefined;
  private onRecord: () => void = () => undefined;
  private isCancelled = false;

  /** `from`: the cursor after which the editor is shown records. */
  constructor(ground: EditorGround, from: string, seq = partsOf(from).seq) {
    this.ground = { ...ground, closed: AbortSignal.any([ground.closed, this.ended.signal]) };
    this.epoch = partsOf(from).epoch!;
    this.seq = seq;
  }

  /** Shows the editor everything that there is, and goes on with what comes. */
  async replay(): Promise<void> {
    const { head } = await this.ground.link.ask("daemon/status", {});
    await this.read({ until: head });
    this.follow();
  }

  follow(): void {
    this.following ??= this.keepFollowing().finally(() => {
      this.following = undefined;
    });
  }

  /** Shows the editor nothing more. */
  end(): void {
    this.ended.abort();
  }

  /** Resolves once the turn is over, and the editor was shown all of it. */
  async prompt(text: string): Promise<StopReason> {
    const { link, id } = this.ground;
    this.isCancelled = false;
    try {
      await this.revive();
      this.ownPrompts.push(text);
      this.follow();
      await link.ask("agent/ask", { id, text, idempotency_key: crypto.randomUUID() });
      await this.caughtUp();
      return this.isCancelled ? "cancelled" : "end_turn";
    } catch (cause) {
      await this.caughtUp().catch(() => undefined);
      if (this.isCancelled) return "cancelled";
      const error = asHoldfastError(cause);
      const stop = STOPS[error.code];
      if (stop !== undefined) return stop;
      throw requestErrorOf(error);
    }
  }

  async cancel(): Promise<void> {
    this.isCancelled = true;
    const { link, id } = this.ground;
    await link.ask("agent/cancel", { id, idempotency_key: crypto.randomUUID() });
  }

  /** A worker that has ended begins again, and its agent continues the session. */
  private async revive(): Promise<void> {
    const { link, id } = this.ground;
    const { ended_at } = await link.ask("agent/info", { id });
    if (ended_at === null) return;
    await link.ask("agent/restart", { ids: [id], idempotency_key: crypto.randomUUID() });
  }

  private cursor(): StartCursor {
    return this.seq === 0 ? 0 : cursorOf(this.epoch, this.seq);
  }

  /** `until`: the seq at which reading ends. */
  private async read({ start = true, until }: { start?: boolean; until?: number } = {}): Promise<void> {
    const { link, id, closed } = this.ground;
    const take = (record: LogRecord) => this.take(record);
    await link.outlasting((client) => {
      const query = { ids: [id], from: this.cursor(), ...(until !== undefined && { until }) };
      return client.stream("agent/watch", query, take, closed);
    }, start);
  }

  /** Until the worker has ended. A daemon that a person stopped is waited for. */
  private async keepFollowing(): Promise<void> {
    const { closed } = this.ground;
    for (let start = true; !closed.aborted; start = false) {
      try {
        return await this.read({ start });
      } catch (cause) {
        if (closed.aborted || !isUnreached(asHoldfastError(cause))) return;
        await sleep(ACP_DAEMON_LOOK_MS);
      }
    }
  }

  private async take(record: LogRecord): Promise<void> {
    if (record.seq <= this.seq) return;
    const { id, editor } = this.ground;
    if (!this.isOwnPrompt(record))
      for (const update of updatesOf(record))
        await editor.notify("session/update", { sessionId: id, update });
    this.seq = record.seq;
    if (record.type === "approval_requested") void this.askPermission(record.payload);
    if (record.type === "approval_answered" || record.type === "approval_withdrawn")
      this.asking.get(record.payload.approval_id)?.abort();
    this.onRecord();
  }

  private isOwnPrompt(record: LogRecord): boolean {
    const text = messageText(record);
    const at = text === undefined ? -1 : this.ownPrompts.indexOf(text);
    if (at !== -1) this.ownPrompts.splice(at, 1);
    return at !== -1;
  }

  /** The first answer counts, of whichever editor or person; a request that is answered elsewhere is taken back here. */
  private async askPermission(request: ApprovalRequested): Promise<void> {
    const { approval_id } = request;
    const { link } = this.ground;
    const answered = new AbortController();
    this.asking.set(approval_id, answered);
    try {
      const { approvals } = await link.ask("agent/approvals", { id: approval_id });
      if (approvals.length === 0) return;
      const decision = this.mode === "ask" ? await this.askEditor(request, answered.signal) : this.mode;
      if (answered.signal.aborted) return;
      await link.ask("agent/approve", { id: approval_id, decision, idempotency_key: crypto.randomUUID() });
    } catch {
      // The editor cannot ask, or another answer came first: the request stays with the daemon.
    } finally {
      this.asking.delete(approval_id);
    }
  }

  private async askEditor(
    { approval_id, tool_use_id, title, tool, input }: ApprovalRequested,
    cancellationSignal: AbortSignal,
  ): Promise<"allow" | "deny"> {
    const { id, editor } = this.ground;
    const toolCall = {
      toolCallId: tool_use_id ?? approval_id,
      title: title === "" ? (tool ?? "tool") : title,
      status: "pending",
      rawInput: input,
    } as const;
    const { outcome }: RequestPermissionResponse = await editor.request(
      "session/request_permission",
      { sessionId: id, toolCall, options: [...OPTIONS] },
      { cancellationSignal },
    );
    return outcome.outcome === "selected" && outcome.optionId === "allow" ? "allow" : "deny";
  }

  /** Waits until the editor was shown every record that there is now. */
  private async caughtUp(): Promise<void> {
    const { link, id } = this.ground;
    const { last_seq } = await link.ask("agent/info", { id });
    if (this.seq >= last_seq || this.following === undefined) return;
    const reached = new Promise<void>((resolve) => {
      this.onRecord = () => {
        if (this.seq >= last_seq) resolve();
      };
    });
    await Promise.race([reached, this.following, sleep(ACP_CATCH_UP_MAX_MS, undefined, { ref: false })]);
  }
}
