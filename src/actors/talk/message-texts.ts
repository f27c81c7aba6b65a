/**
 * Finds the texts of messages to one worker's agent: in the log, in its spec, or, if the log has them masked, in a
 * file.
 */
import { Effect } from "effect";
import type { MessageRow } from "../../protocol/message-row.ts";
import type { AcceptedStep } from "../../supervisor/messages/messages.ts";
import type { Speaker } from "./speaker.ts";

export class MessageTexts {
  private readonly worker: Pick<Speaker, "id" | "spec" | "services" | "journal" | "call" | "fork">;
  /** Ids of masked messages whose files are kept until the agent has them. */
  private readonly kept = new Set<string>();

  constructor(worker: Pick<Speaker, "id" | "spec" | "services" | "journal" | "call" | "fork">) {
    this.worker = worker;
  }

  /** Undefined if its file in the run directory is gone; null if it cannot be read now. */
  textOf(row: MessageRow, prompt: string | undefined): Effect.Effect<string | undefined | null> {
    return Effect.gen({ self: this }, function* () {
      const { services, id, spec } = this.worker;
      if (row.message_id === prompt) return spec.prompt;
      if (row.masked) {
        this.kept.add(row.message_id);
        const load = () => services.files.loadMessage(id, row.message_id);
        return yield* this.worker.call("reading a message", load, null);
      }
      return (yield* this.accepted(row))?.text;
    });
  }

  /** The record that accepted the message. */
  accepted(row: MessageRow): Effect.Effect<AcceptedStep | undefined> {
    return Effect.gen({ self: this }, function* () {
      const { journal, id } = this.worker;
      const [record] = (yield* journal.ask(({ log }) =>
        log.read(row.seq - 1, 1, { worker_ids: [id], types: ["worker_message"] }),
      )).records;
      return record?.type === "worker_message" && record.payload.state === "accepted"
        ? record.payload
        : undefined;
    });
  }

  /** Removes the file of a message that the agent has, or will never get. */
  drop(message_id: string): void {
    if (!this.kept.delete(message_id)) return;
    const { services, id } = this.worker;
    const drop = () => services.files.dropMessage(id, message_id);
    this.worker.fork(this.worker.call("removing a message", drop, undefined));
  }
}
