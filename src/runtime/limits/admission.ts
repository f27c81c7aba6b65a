/**
 * Rights to begin to live and to start: names are unique among the living, their number is bounded, slots and
 * memory are waited for in a queue, and nothing begins while all ends.
 *
 * A slot is never counted up or down: it is a seat's membership in a set, taken in the synchronous step that decides and
 * gone with the seat at every end of a worker. A worker keeps its slot between two incarnations, as a container of a pod does.
 */
import { Effect, Semaphore } from "effect";
import { HoldfastError } from "../../protocol/errors.ts";
import { type RecordDraft, workerStream } from "../../protocol/records.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";
import type { Disk } from "../../supervisor/admission/disk.ts";
import {
  type Ancestor,
  type Ask,
  comesBefore,
  diskRefusal,
  type Fleet,
  isSlotFree,
  type Limits,
  type QueuePlace,
  queueFull,
  refusalOf,
} from "../../supervisor/admission/seats.ts";

/** The reservation of a worker on its way in. */
export interface Ticket {
  /** Its place, if it has to wait: the record of it goes with the request's. */
  readonly queued: QueuePlace | undefined;
  /** Asked before each incarnation: undefined where it may start at once, else resolves when it may. */
  readonly turn: () => Promise<void> | undefined;
}

export interface Newcomer {
  readonly id: string;
  readonly spec: WorkerSpec;
  readonly ancestors: readonly Ancestor[];
}

export interface Admission {
  /** Runs `begin`, which records the beginning and puts the worker under supervision, wholly or not at all. */
  admit(
    newcomer: Newcomer,
    begin: (ticket: Ticket) => Effect.Effect<void, HoldfastError>,
  ): Effect.Effect<void, HoldfastError>;
  /** Workers that a tree starts: nothing is refused any more, it may have to wait. */
  enter(newcomer: Newcomer): Ticket;
  /** At a boot: what has begun holds its slot, what has not waits for `look`. `arrival` is its place in the start order. */
  resume(newcomer: Newcomer, hasBegun: boolean, arrival: number): Ticket;
  /** It is to be stopped, which its tree can do once it has begun: it begins without a slot, and nothing of it is launched. */
  letGo(id: string): void;
  /** It does not live any more. */
  left(id: string): void;
  /** It waits without a process: its slot is free, its name and its place in the fleet are not. */
  rested(id: string): void;
  /** On the tick: who can start now is let go. After a shortage of memory one at a time, because each one takes some; the floor of the disk has its own reserve. */
  look(): void;
  placeOf(id: string): QueuePlace | undefined;
  /** Admits nobody any more; resolves when those who were being admitted live. */
  readonly close: Effect.Effect<void>;
  /** The runtime goes on after all. */
  reopen(): void;
  isClosed(): boolean;
}

interface Seat extends Ask {
  readonly id: string;
  readonly name: string | undefined;
  /** A restart that has to wait arrives anew: who ends again and again would be before everybody else for ever. */
  arrival: number;
  waits_for: QueuePlace["waits_for"] | undefined;
  /** It was let go before it asked for its turn. */
  cleared: boolean;
  /** Its tree has started it. */
  entered: boolean;
  resume: (() => void) | undefined;
}

type Shortage = Exclude<QueuePlace["waits_for"], "slot">;

export interface AdmissionPorts {
  readonly limits: Limits;
  readonly memAvailableBytes: () => number | undefined;
  readonly disk: Disk;
  readonly note: (draft: RecordDraft) => void;
}

export const queuedRecord = (id: string, payload: QueuePlace): RecordDraft => ({
  type: "worker_queued",
  stream: workerStream(id),
  worker_id: id,
  payload,
});

export const makeAdmission = ({ limits, memAvailableBytes, disk, note }: AdmissionPorts): Admission => {
  const seats = new Map<string, Seat>();
  const names = new Map<string, string>();
  /** Ids that hold a slot. */
  const holders = new Set<string>();
  /** The waiting workers, in order. */
  const queue: Seat[] = [];
  const doors = Semaphore.makeUnsafe(limits.live_max);
  let arrivals = 0;
  let closed = false;

  const fleet: Fleet = {
    get live() {
      return seats.size;
    },
    get running() {
      return holders.size;
    },
    holdsSlot: (id) => holders.has(id),
    below: (id) => {
      let count = 0;
      for (const holder of holders)
        if (seats.get(holder)?.ancestors.some((ancestor) => ancestor.id === id)) count += 1;
      return count;
    },
  };

  /** The resource that the machine has too little of to start anybody. */
  const shortage = (): Shortage | undefined => {
    if (disk.isLow()) return "disk";
    const available = memAvailableBytes();
    return available !== undefined && available < limits.mem_min_bytes ? "memory" : undefined;
  };
  /** A resource that somebody waits for: it is shared out on the tick, and nobody overtakes. */
  const scarcity = (): Shortage | undefined => {
    for (const { waits_for } of queue) if (waits_for !== "slot") return waits_for;
    return undefined;
  };

  const enqueue = (seat: Seat, waits_for: QueuePlace["waits_for"]): QueuePlace => {
    seat.waits_for = waits_for;
    const at = queue.findIndex((other) => comesBefore(seat, other));
    queue.splice(at === -1 ? queue.length : at, 0, seat);
    return { place: queue.indexOf(seat) + 1, priority: seat.priority, waits_for };
  };
  const dequeue = (seat: Seat): void => {
    seat.waits_for = undefined;
    const at = queue.indexOf(seat);
    if (at !== -1) queue.splice(at, 1);
  };

  const release = (seat: Seat): void => {
    dequeue(seat);
    if (seat.resume === undefined) seat.cleared = true;
    else seat.resume();
  };

  /** Lets those go that can, in order, `most` of them at most. A worker that waits for another's slot holds nobody up. */
  const serve = (most: number): void => {
    if (queue.length === 0 || closed) return;
    const short = shortage();
    let some = short === undefined ? most : 0;
    for (const seat of [...queue]) {
      if (!holders.has(seat.id) && !isSlotFree(seat, limits, fleet)) seat.waits_for = "slot";
      else if (some <= 0) seat.waits_for = short ?? scarcity() ?? "memory";
      else {
        some -= 1;
        holders.add(seat.id);
        release(seat);
      }
    }
  };
  /** While a boot goes on, not all slots that are held are known. */
  let isOpen = false;
  const freed = (): void => {
    if (isOpen) serve(scarcity() !== undefined ? 0 : Number.POSITIVE_INFINITY);
  };

  const seated = ({ id, spec, ancestors }: Newcomer, arrival: number): Seat => {
    const { priority, max_depth, max_concurrency, name } = spec;
    const seat: Seat = {
      id,
      name,
      ancestors,
      priority,
      max_depth,
      max_concurrency,
      arrival,
      waits_for: undefined,
      cleared: false,
      entered: false,
      resume: undefined,
    };
    arrivals = Math.max(arrivals, arrival);
    seats.set(id, seat);
    if (name !== undefined) names.set(name, id);
    return seat;
  };

  const wait = (seat: Seat): Promise<void> =>
    new Promise((resolve) => {
      seat.resume = () => {
        seat.resume = undefined;
        resolve();
      };
    });

  /** The first turn is what admission decided. A restart has its slot, and waits for memory and disk: what was killed for want of it would be killed again. */
  const turnOf = (seat: Seat) => (): Promise<void> | undefined => {
    if (seat.waits_for !== undefined) return wait(seat);
    if (!holders.has(seat.id) && !seat.cleared) {
      // It has rested, and comes back as a newcomer.
      if (!isSlotFree(seat, limits, fleet)) {
        arrivals += 1;
        seat.arrival = arrivals;
        note(queuedRecord(seat.id, enqueue(seat, "slot")));
        return wait(seat);
      }
      holders.add(seat.id);
    }
    const lacking = shortage() ?? scarcity();
    if (seat.cleared || lacking === undefined) {
      seat.cleared = false;
      return undefined;
    }
    arrivals += 1;
    seat.arrival = arrivals;
    note(queuedRecord(seat.id, enqueue(seat, lacking)));
    return wait(seat);
  };

  const refusal = ({ id, spec, ancestors }: Newcomer): HoldfastError | undefined => {
    if (closed) return new HoldfastError("UNAVAILABLE", "The runtime is shutting down.");
    if (seats.has(id)) return new HoldfastError("INVALID_STATE", `Worker ${id} is being started already.`);
    const holder = spec.name === undefined ? undefined : names.get(spec.name);
    if (holder !== undefined)
      return new HoldfastError(
        "ALREADY_EXISTS",
        `A living worker is called "${spec.name}" already: ${holder}.`,
      );
    return (
      refusalOf({ ...spec, ancestors }, limits, fleet) ??
      (disk.isLow() ? diskRefusal(disk.view()) : undefined)
    );
  };

  const waitOf = ({ ancestors }: Newcomer): QueuePlace["waits_for"] | undefined => {
    const lacking = shortage() ?? scarcity();
    if (lacking !== undefined) return lacking;
    return isOpen && isSlotFree({ ancestors }, limits, fleet) ? undefined : "slot";
  };

  /** One synchronous step from the question to the seat. */
  const decide = (newcomer: Newcomer): Ticket | HoldfastError => {
    const refused = refusal(newcomer);
    if (refused !== undefined) return refused;
    const waits_for = waitOf(newcomer);
    if (waits_for !== undefined && queue.length >= limits.queue_max) return queueFull(limits, waits_for);
    return place(newcomer, waits_for);
  };

  const place = (newcomer: Newcomer, waits_for: QueuePlace["waits_for"] | undefined): Ticket => {
    const seat = seated(newcomer, arrivals + 1);
    if (waits_for === undefined) {
      holders.add(seat.id);
      seat.cleared = true;
    }
    const queued = waits_for === undefined ? undefined : enqueue(seat, waits_for);
    return { queued, turn: turnOf(seat) };
  };

  const left = (id: string): void => {
    const seat = seats.get(id);
    if (seat === undefined) return;
    seats.delete(id);
    if (seat.name !== undefined && names.get(seat.name) === id) names.delete(seat.name);
    holders.delete(id);
    dequeue(seat);
    freed();
  };

  return {
    admit: (newcomer, begin) =>
      doors.withPermits(1)(
        Effect.suspend(() => {
          const ticket = decide(newcomer);
          if (ticket instanceof HoldfastError) return Effect.fail(ticket);
          const leave = Effect.sync(() => {
            if (seats.get(newcomer.id)?.entered === false) left(newcomer.id);
          });
          const begun = Effect.onError(Effect.uninterruptible(begin(ticket)), () => leave);
          // Its tree starts it in its own time, and it enters then.
          return newcomer.spec.supervisor === "root" ? begun : Effect.andThen(begun, () => leave);
        }),
      ),
    enter: (newcomer) => {
      const known = seats.get(newcomer.id);
      const ticket =
        known === undefined ? place(newcomer, waitOf(newcomer)) : { queued: undefined, turn: turnOf(known) };
      const seat = seats.get(newcomer.id);
      if (seat !== undefined) seat.entered = true;
      // A worker that waits for the end of the boot only is not told so.
      return isOpen ? ticket : { ...ticket, queued: undefined };
    },
    resume: (newcomer, hasBegun, arrival) => {
      const seat = seated(newcomer, arrival);
      if (hasBegun) holders.add(seat.id);
      const queued = hasBegun ? undefined : enqueue(seat, "slot");
      return { queued, turn: turnOf(seat) };
    },
    letGo: (id) => {
      const seat = seats.get(id);
      if (seat?.waits_for !== undefined) release(seat);
    },
    left,
    rested: (id) => {
      if (holders.delete(id)) freed();
    },
    look: () => {
      isOpen = true;
      serve(scarcity() === "memory" ? 1 : Number.POSITIVE_INFINITY);
    },
    placeOf: (id) => {
      const at = queue.findIndex((seat) => seat.id === id);
      const seat = queue[at];
      return seat?.waits_for === undefined
        ? undefined
        : { place: at + 1, priority: seat.priority, waits_for: seat.waits_for };
    },
    close: Effect.suspend(() => {
      closed = true;
      return doors.withPermits(limits.live_max)(Effect.void);
    }),
    reopen: () => {
      closed = false;
    },
    isClosed: () => closed,
  };
};
