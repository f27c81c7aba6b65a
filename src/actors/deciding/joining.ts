/**
 * A decider of many workers. Inputs that arrive while the store writes are decided together and recorded in one
 * transaction: two hundred starts would otherwise wait four hundred times for the disk (docs/decisions/0037).
 */
import { Effect } from "effect";
import type { HoldfastError } from "../../protocol/errors.ts";
import type { RecordDraft } from "../../protocol/records.ts";
import type { AppendOptions } from "../../store/event-log.ts";
import { Decider, type PendingInput } from "./decider.ts";

type Work<A> = Effect.Effect<A, HoldfastError>;

export abstract class JoiningDecider<
  State,
  Input,
  Decision extends { readonly events: readonly RecordDraft[] },
> extends Decider<State, Input, Decision> {
  /** Waiting inputs, in their order. Undefined marks one that is decided alone. */
  private readonly line = new Map<object, PendingInput<Input, Decision> | undefined>();

  override input(
    input: Input,
    extra: readonly RecordDraft[] = [],
    options?: AppendOptions,
    then?: PendingInput<Input, Decision>["then"],
  ) {
    // Options such as checkpoints belong to one caller's records, so this input is decided alone.
    if (options !== undefined) return this.inLine(undefined, () => super.input(input, extra, options, then));
    return Effect.suspend(() => {
      const asked: PendingInput<Input, Decision> = { input, extra, then };
      return this.inLine(asked, () => this.inTurn(() => this.joined(asked)));
    });
  }

  override change(make: (state: State) => Work<Input>) {
    return this.inLine(undefined, () => super.change(make));
  }

  private inLine<A>(asked: PendingInput<Input, Decision> | undefined, work: () => Work<A>): Work<A> {
    return Effect.suspend(() => {
      const place = {};
      this.line.set(place, asked);
      return Effect.ensuring(
        work(),
        Effect.sync(() => this.line.delete(place)),
      );
    });
  }

  /**
   * Decides this input together with those behind it, up to one that is decided alone. If their transaction fails, this
   * input is tried alone.
   */
  private joined(asked: PendingInput<Input, Decision>): Work<Decision | undefined> {
    if (asked.answer !== undefined) return Effect.succeed(asked.answer.decision);
    const together = [asked];
    const line = [...this.line.values()];
    for (const other of line.slice(line.indexOf(asked) + 1)) {
      if (other === undefined) break;
      if (other.answer === undefined) together.push(other);
    }
    const decided = Effect.map(this.decided(together), () => asked.answer?.decision);
    return together.length === 1
      ? decided
      : Effect.catch(decided, (error) =>
          asked.answer === undefined ? this.alone(asked) : Effect.fail(error),
        );
  }
}
