/** Sorts the inputs of a run: messages wait for their turn, answers and interruptions go to what is under way. */
import type { EngineInput } from "../protocol/engine-lines.ts";

export type EngineMessage = Extract<EngineInput, { type: "message" }>;
type PermissionLine = Extract<EngineInput, { type: "answer" }>;

export class EngineInbox {
  /** Settles when the input has ended, or has failed. */
  readonly done: Promise<void>;
  private readonly waiting: EngineMessage[] = [];
  private readonly answers = new Map<string, (answer: PermissionLine | undefined) => void>();
  private hasEnded = false;
  private wake: (() => void) | undefined;
  private readonly onInterrupt: () => void;

  constructor(inputs: AsyncIterable<EngineInput>, onInterrupt: () => void) {
    this.onInterrupt = onInterrupt;
    this.done = this.read(inputs).finally(() => this.end());
    // A failure is the caller's, who awaits `done`.
    this.done.catch(() => undefined);
  }

  /** The next message; undefined after the last one. */
  async message(): Promise<EngineMessage | undefined> {
    while (this.waiting.length === 0 && !this.hasEnded)
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    return this.waiting.shift();
  }

  /** The answer to a request; undefined once the signal is aborted or no answer can come. */
  answer(key: string, signal: AbortSignal): Promise<PermissionLine | undefined> {
    return new Promise((resolve) => {
      const finish = (answer: PermissionLine | undefined) => {
        this.answers.delete(key);
        signal.removeEventListener("abort", abort);
        resolve(answer);
      };
      const abort = () => finish(undefined);
      if (signal.aborted || this.hasEnded) return resolve(undefined);
      signal.addEventListener("abort", abort);
      this.answers.set(key, finish);
    });
  }

  /** Nothing more is taken in. */
  end(): void {
    this.hasEnded = true;
    this.wake?.();
    for (const finish of this.answers.values()) finish(undefined);
  }

  private async read(inputs: AsyncIterable<EngineInput>): Promise<void> {
    for await (const input of inputs) {
      if (input.type === "message") {
        this.waiting.push(input);
        this.wake?.();
      } else if (input.type === "answer") this.answers.get(input.key)?.(input);
      else this.onInterrupt();
    }
  }
}
