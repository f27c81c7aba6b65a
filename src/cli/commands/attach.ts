/** agent attach: a conversation with an agent in the terminal. The agent and its answers stay when the person leaves. */
import { createInterface, type Interface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { ATTACH_TAIL_TEXTS, NEXT_DAEMON_POLL_MS } from "../../base/limits.ts";
import type { Client } from "../../daemon/client.ts";
import { asHoldfastError, HoldfastError } from "../../protocol/errors.ts";
import type { HoldAnswer } from "../../protocol/holds.ts";
import { success } from "../../protocol/outcome.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { HoldView, WorkerInfo } from "../../runtime/replies.ts";
import type { CommandHandler, Context } from "../context.ts";
import { ConversationText } from "../render/conversation.ts";
import { PromptLine, type PromptSize, rowsOf } from "../render/prompt-line.ts";
import { isShown } from "../render/sentences.ts";
import { neutralise, oneLine } from "../render/terminal.ts";
import { elsewhereNamed } from "./elsewhere.ts";
import { newestRecords } from "./logs.ts";

export const attach: CommandHandler = async (context) => {
  if (context.mode !== "text" || !context.isStdoutTerminal || !context.isStdinTerminal())
    throw new HoldfastError("INVALID_REQUEST", "agent attach needs a terminal.", {
      phase: "validation",
      suggestion: "For a script: agent ask ID TEXT",
    });
  const client = await context.connect();
  const worker = await workerHere(context, client, context.call.args[0]!);
  const refusal = refusalOf(worker);
  if (refusal !== undefined) throw refusal;
  await new AttachSession(context, worker).run(client);
  return success({});
};

const workerHere = async (context: Context, client: Client, ref: string): Promise<WorkerInfo> => {
  const found = await client.ask("agent/info", { id: ref, here: true });
  if (found.ok) return found.value;
  const there =
    found.error.code === "WORKER_NOT_FOUND" ? await elsewhereNamed(context, client, ref) : undefined;
  if (there?.node == null) throw found.error;
  const { name, node } = there;
  throw new HoldfastError(
    "INVALID_STATE",
    `${name} runs on the node ${node}, and a terminal is attached there.`,
    {
      suggestion: `Attach with: agent --host ${node} attach ${name}`,
    },
  );
};

const refusalOf = ({ id, name, spec, ended_at }: WorkerInfo): HoldfastError | undefined => {
  const ref = name ?? id;
  if (!spec.interactive)
    return new HoldfastError("INVALID_STATE", `Worker ${ref} is not interactive: it takes no messages.`, {
      suggestion: `Read it with: agent logs -f ${ref}; a conversation begins with: agent spawn --interactive`,
    });
  if (ended_at === null) return undefined;
  return new HoldfastError("INVALID_STATE", `Worker ${ref} has ended: nobody is there to talk to.`, {
    suggestion: `Read it with: agent logs ${ref}; go on with its session: agent resume ${ref} --interactive`,
  });
};

class AttachSession {
  private readonly context: Context;
  private readonly worker: WorkerInfo;
  private readonly ref: string;
  private readonly conversation: ConversationText;
  private readonly bottom = new PromptLine();
  private readonly typed: Interface;
  private client: Client | undefined;
  /** The open question that the next line may answer. */
  private hold: HoldView | undefined;
  /** The seq of the newest record that is shown. */
  private seen = 0;
  private isOver = false;
  /** The daemon went away, and the next one is not there yet. */
  private isGone = false;
  /** The worker has ended, so nobody is there any more. */
  private hasEnded = false;
  private leave: () => void = () => undefined;

  constructor(context: Context, worker: WorkerInfo) {
    this.context = context;
    this.worker = worker;
    this.ref = worker.name ?? worker.id;
    this.conversation = new ConversationText(context.paint);
    this.typed = createInterface({ input: process.stdin, output: process.stdout, terminal: true });
  }

  async run(client: Client): Promise<void> {
    const { typed, context } = this;
    const left = new Promise<void>((resolve) => {
      this.leave = resolve;
    });
    context.cleanups.push(() => typed.close());
    typed.on("line", (line) => void this.enter(line.trim()));
    typed.on("SIGINT", () => this.leave());
    typed.on("close", () => this.leave());
    typed.setPrompt("> ");
    this.client = client;
    this.show(
      `${context.paint("dim", `${oneLine(this.ref)}: Ctrl-C or Ctrl-D leaves, and the agent runs on.`)}\n`,
    );
    const listening = this.listen(client);
    await left;
    this.isOver = true;
    this.client?.close();
    typed.close();
    await listening;
    await context.stdout("\n");
    if (!this.hasEnded) context.hint(`It runs on. Back to it: agent attach ${this.ref}`, "after");
  }

  /** Shows what is said, until the person leaves or the worker ends; a daemon that goes away is waited for. */
  private async listen(first: Client): Promise<void> {
    let next: Client | undefined = first;
    while (!this.isOver) {
      try {
        await this.follow(next ?? (await this.context.connect()));
      } catch (cause) {
        const { code, message } = asHoldfastError(cause);
        if (!IS_GONE.has(code)) {
          this.tell(message);
          return this.leave();
        }
        if (!this.isGone) this.tell("The daemon is gone; the agent runs on. Waiting for it.");
        this.isGone = true;
        this.client = undefined;
      }
      next = undefined;
      if (!this.isOver) await sleep(NEXT_DAEMON_POLL_MS);
    }
  }

  private async follow(client: Client): Promise<void> {
    if (this.seen === 0) {
      for (const record of await newestRecords(client, this.worker, ATTACH_TAIL_TEXTS, { shown }))
        this.hear(record);
      this.seen = Math.max(this.seen, this.worker.last_seq);
    }
    this.client = client;
    if (this.isGone) this.tell("The daemon is back.");
    this.isGone = false;
    await this.ask(client);
    await client.watch({ ids: [this.worker.id], from: this.seen, follow: false }, (record) => {
      this.hear(record);
      if (CHANGES_QUESTION.has(record.type)) void this.ask(client).catch(() => undefined);
    });
    // The watch ends with its worker.
    this.hasEnded = true;
    this.tell(`${oneLine(this.ref)} has ended.`);
    this.leave();
  }

  private hear(record: LogRecord): void {
    this.seen = Math.max(this.seen, record.seq);
    const text = this.conversation.add(record);
    if (text !== "") this.show(text);
  }

  /** Asks what waits for an answer, and shows it in the prompt. */
  private async ask(client: Client): Promise<void> {
    const { holds } = await client.request("agent/inbox", { id: this.worker.id });
    const before = this.hold?.id;
    this.hold = holds.find(({ answers }) => answers.length > 0);
    this.typed.setPrompt(this.hold === undefined ? "> " : `${this.hold.answers.join(" or ")}? `);
    if (this.hold !== undefined && this.hold.id !== before)
      this.show(`${this.context.paint("warn", `? ${oneLine(this.hold.question, 500)}`)}\n`);
    else this.show("");
  }

  private async enter(line: string): Promise<void> {
    const { client, hold } = this;
    // The line was sent off with its end, so the cursor is below it.
    this.show("", rowsOf(this.typed.getPrompt() + line, sizeOf()));
    if (line === "") return;
    if (client === undefined) return this.tell("There is no daemon now; nothing was sent.");
    const answer = hold?.answers.find((one) => one.startsWith(line.toLowerCase()));
    try {
      if (hold === undefined) await client.request("agent/send", { id: this.worker.id, text: line });
      else if (answer === undefined) this.tell(`Answer first: ${hold.answers.join(" or ")}.`);
      else await client.request("agent/answer", { id: hold.id, answer: answer as HoldAnswer });
    } catch (cause) {
      if (!this.isOver) this.tell(asHoldfastError(cause).message);
    }
  }

  private tell(sentence: string): void {
    this.show(`${this.context.paint("dim", `· ${neutralise(sentence)}`)}\n`);
  }

  /** Writes above the line that is being typed, and draws that again. */
  private show(text: string, row = this.typed.getCursorPos().rows): void {
    if (this.isOver) return;
    void this.context.stdout(this.bottom.add(text, row, sizeOf()));
    this.typed.prompt(true);
  }
}

/** The codes of a daemon that is not there, or not for a while. */
const IS_GONE: ReadonlySet<string> = new Set(["UNAVAILABLE", "SUPERVISOR_DOWN", "DAEMON_UNHEALTHY"]);

const sizeOf = (): PromptSize => ({ columns: process.stdout.columns ?? 80, rows: process.stdout.rows ?? 24 });

/** A message of a person is part of a conversation, and not of a log for people. */
const shown = (record: LogRecord): boolean =>
  isShown(record) || (record.type === "worker_message" && record.payload.state === "accepted");

/** Records after which another question may be open, or none. */
const CHANGES_QUESTION: ReadonlySet<string> = new Set([
  "approval_requested",
  "approval_answered",
  "approval_withdrawn",
  "worker_question",
  "worker_answered",
  "worker_question_withdrawn",
  "worker_paused",
  "worker_unpaused",
  "worker_exited",
]);
