/**
 * Time for what is no fiber: alarms on the clock of the runtime that made them, which in a test is a test's. One fiber
 * sleeps for all of them, until the first is due: an alarm costs an object in a heap, and one that is taken back leaves
 * nothing behind.
 */
import { Clock, Effect, type Fiber, type Scope } from "effect";

export interface Alarms {
  /** Monotonic nanoseconds. */
  now(): bigint;
  /** Epoch milliseconds of the wall clock; nothing rings by it. */
  wallMs(): number;
  /** Rings once, unless it is taken back before. */
  after(delay_ms: number, ring: () => void): Alarm;
}

export class Alarm {
  /** Monotonic milliseconds. */
  readonly due: number;
  readonly ring: () => void;
  /** Place in the heap; -1 outside of it. */
  index = -1;
  private readonly heap: AlarmHeap;
  constructor(heap: AlarmHeap, due: number, ring: () => void) {
    this.heap = heap;
    this.due = due;
    this.ring = ring;
  }
  /** Nothing happens when it has rung. */
  disarm(): void {
    this.heap.remove(this);
  }
}

/** A binary heap: the first is due first. Each alarm knows its place, so that any of them can be taken out. */
class AlarmHeap {
  private readonly all: Alarm[] = [];

  first(): Alarm | undefined {
    return this.all[0];
  }

  add(alarm: Alarm): void {
    this.all.push(alarm);
    this.rise(alarm, this.all.length - 1);
  }

  remove(alarm: Alarm): void {
    const { index } = alarm;
    if (index < 0) return;
    alarm.index = -1;
    const last = this.all.pop() as Alarm;
    if (last === alarm) return;
    this.sink(last, index);
    this.rise(last, last.index);
  }

  private put(alarm: Alarm, index: number): void {
    this.all[index] = alarm;
    alarm.index = index;
  }

  private rise(alarm: Alarm, from: number): void {
    let index = from;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = this.all[parent] as Alarm;
      if (above.due <= alarm.due) break;
      this.put(above, index);
      index = parent;
    }
    this.put(alarm, index);
  }

  private sink(alarm: Alarm, from: number): void {
    let index = from;
    for (;;) {
      const left = this.all[2 * index + 1];
      const right = this.all[2 * index + 2];
      const below = right !== undefined && right.due < (left as Alarm).due ? right : left;
      if (below === undefined || below.due >= alarm.due) break;
      const place = below.index;
      this.put(below, index);
      index = place;
    }
    this.put(alarm, index);
  }
}

/** They are silent once their scope is closed. An error of one is handed to `onThrow`, and keeps nobody else from ringing. */
export const makeAlarms = (onThrow: (cause: unknown) => void): Effect.Effect<Alarms, never, Scope.Scope> =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock;
    const fork = Effect.runForkWith(yield* Effect.context<never>());
    const heap = new AlarmHeap();
    let sleeping: { readonly fiber: Fiber.Fiber<void>; readonly due: number } | undefined;
    let closed = false;

    const nowMs = (): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6;

    const ringDue = (): void => {
      sleeping = undefined;
      const now = nowMs();
      for (let next = heap.first(); next !== undefined && next.due <= now; next = heap.first()) {
        heap.remove(next);
        try {
          next.ring();
        } catch (cause) {
          onThrow(cause);
        }
      }
      sleep();
    };

    /** Until the first one is due. */
    const sleep = (): void => {
      const first = heap.first();
      if (closed || first === undefined || (sleeping !== undefined && sleeping.due <= first.due)) return;
      sleeping?.fiber.interruptUnsafe();
      const delay_ms = Math.max(0, Math.ceil(first.due - nowMs()));
      sleeping = {
        due: first.due,
        fiber: fork(Effect.andThen(Effect.sleep(delay_ms), Effect.sync(ringDue))),
      };
    };

    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        closed = true;
        sleeping?.fiber.interruptUnsafe();
      }),
    );
    return {
      now: () => clock.monotonicTimeNanosUnsafe(),
      wallMs: () => clock.currentTimeMillisUnsafe(),
      after: (delay_ms, ring) => {
        const alarm = new Alarm(heap, nowMs() + delay_ms, ring);
        heap.add(alarm);
        sleep();
        return alarm;
      },
    };
  });
