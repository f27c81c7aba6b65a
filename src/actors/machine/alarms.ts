/**
 * Alarms for callers that are no fibers. They run on the runtime's clock, which is a test clock in a test. One fiber
 * sleeps until the first alarm is due, so an alarm costs one object in a heap, and a disarmed one leaves nothing
 * behind.
 */
import { Clock, Effect, type Fiber, type Scope } from "effect";

export interface Alarms {
  /** Monotonic nanoseconds. */
  now(): bigint;
  /** Wall clock, in milliseconds since 1970. No alarm uses it. */
  wallMs(): number;
  /** Rings once, unless it is disarmed before. */
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
  /** Takes the alarm back; no effect after it has rung. */
  disarm(): void {
    this.heap.remove(this);
  }
}

/** A binary heap, ordered by due time. Each alarm knows its index, so that any of them can be removed. */
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

/**
 * Makes alarms that ring until their scope is closed. An error in one goes to `onThrow` and does not stop the others.
 */
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

    /** Sleeps until the first alarm is due. */
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
