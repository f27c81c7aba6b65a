/**
 * Rights to begin to live and to start: names are unique among the living, their number is bounded, slots and
 * memory are waited for in a queue, and nothing begins while all ends.
 *
 * A slot is never counted up or down: it is a seat's membership in a set, taken in the synchronous step that decides and
 * gone with the seat at every end of a worker. A worker keeps its slot between two incarnations, as a container of a pod does.
 */
import { Effect, Semaphore } from "effect";
import type { StartTurn } from "../../actors/worker/worker.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { type RecordDraft, workerStream } from "../../protocol/records.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";
import type { Disk } from "../../supervisor/admission/disk.ts";
import {
  type Ancestor,
  comesBefore,
  diskRefusal,
  type Fleet,
  isSlotFree,
  type Limits,
  type QueuePlace,
  queueFull,
  refusalOf,
  type SeatRequest,
} from "../../supervisor/admission/seats.ts";

/** The reservation of a worker on its way in. */
export interface Ticket {
  /** Its place, if it has to wait: the record of it goes with the request's. */
  readonly queued: QueuePlace | undefined;
  /** Asked before each incarnation: undefined where it may start at once, else resolves when it may. */
  readonly turn: StartTurn;
}

export interface SeatCandidate {
  readonly id: string;
  readonly spec: WorkerSpec;
  readonly ancestors: readonly Ancestor[];
}

interface Seat extends SeatRequest {
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

export class Admission {
  private readonly ports: AdmissionPorts;
  private readonly seats = new Map<string, Seat>();
  private readonly names = new Map<string, string>();
  /** Ids that hold a slot. */
  private readonly holders = new Set<string>();
  /** The waiting workers, in order. */
  private readonly queue: Seat[] = [];
  private readonly doors: Semaphore.Semaphore;
  private readonly fleet: Fleet;
  private arrivals = 0;
  private closed = false;
  /** While a boot goes on, not all slots that are held are known. */
  private isOpen = false;

  constructor(ports: AdmissionPorts) {
    const { seats, holders } = this;
    this.ports = ports;
    this.doors = Semaphore.makeUnsafe(ports.limits.live_max);
    this.fleet = {
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
  }

  /** Runs `begin`, which records the beginning and puts the worker under supervision, wholly or not at all. */
  admit(
    newcomer: SeatCandidate,
    begin: (ticket: Ticket) => Effect.Effect<void, HoldfastError>,
  ): Effect.Effect<void, HoldfastError> {
    const admitted = Effect.suspend(() => {
      const ticket = this.decide(newcomer);
      if (ticket instanceof HoldfastError) return Effect.fail(ticket);
      const leave = Effect.sync(() => {
        if (this.seats.get(newcomer.id)?.entered === false) this.left(newcomer.id);
      });
      const begun = Effect.onError(Effect.uninterruptible(begin(ticket)), () => leave);
      // Its tree starts it in its own time, and it enters then.
      return newcomer.spec.supervisor === "root" ? begun : Effect.andThen(begun, () => leave);
    });
    return this.doors.withPermits(1)(admitted);
  }

  /** Workers that a tree starts: nothing is refused any more, it may have to wait. */
  enter(newcomer: SeatCandidate): Ticket {
    const known = this.seats.get(newcomer.id);
    const ticket =
      known === undefined
        ? this.place(newcomer, this.waitOf(newcomer))
        : { queued: undefined, turn: this.turnOf(known) };
    const seat = this.seats.get(newcomer.id);
    if (seat !== undefined) seat.entered = true;
    // A worker that waits for the end of the boot only is not told so.
    return this.isOpen ? ticket : { ...ticket, queued: undefined };
  }

  /** At a boot: what has begun holds its slot, what has not waits for `look`. `arrival` is its place in the start order. */
  resume(newcomer: SeatCandidate, hasBegun: boolean, arrival: number): Ticket {
    const seat = this.seated(newcomer, arrival);
    if (hasBegun) this.holders.add(seat.id);
    const queued = hasBegun ? undefined : this.enqueue(seat, "slot");
    return { queued, turn: this.turnOf(seat) };
  }

  /** It is to be stopped, which its tree can do once it has begun: it begins without a slot, and nothing of it is launched. */
  letGo(id: string): void {
    const seat = this.seats.get(id);
    if (seat?.waits_for !== undefined) this.release(seat);
  }

  /** It does not live any more. */
  left(id: string): void {
    const seat = this.seats.get(id);
    if (seat === undefined) return;
    this.seats.delete(id);
    if (seat.name !== undefined && this.names.get(seat.name) === id) this.names.delete(seat.name);
    this.holders.delete(id);
    this.dequeue(seat);
    this.freed();
  }

  /** It waits without a process: its slot is free, its name and its place in the fleet are not. */
  readonly rested = (id: string): void => {
    if (this.holders.delete(id)) this.freed();
  };

  /** On the tick: who can start now is let go. After a shortage of memory one at a time, because each one takes some; the floor of the disk has its own reserve. */
  readonly look = (): void => {
    this.isOpen = true;
    this.serve(this.scarcity() === "memory" ? 1 : Number.POSITIVE_INFINITY);
  };

  placeOf(id: string): QueuePlace | undefined {
    const at = this.queue.findIndex((seat) => seat.id === id);
    const seat = this.queue[at];
    return seat?.waits_for === undefined
      ? undefined
      : { place: at + 1, priority: seat.priority, waits_for: seat.waits_for };
  }

  /** Admits nobody any more; resolves when those who were being admitted live. */
  readonly close: Effect.Effect<void> = Effect.suspend(() => {
    this.closed = true;
    return this.doors.withPermits(this.ports.limits.live_max)(Effect.void);
  });

  /** The runtime goes on after all. */
  reopen(): void {
    this.closed = false;
  }

  isClosed(): boolean {
    return this.closed;
  }

  /** One synchronous step from the question to the seat. */
  private decide(newcomer: SeatCandidate): Ticket | HoldfastError {
    const { limits } = this.ports;
    const refused = this.refusal(newcomer);
    if (refused !== undefined) return refused;
    const waits_for = this.waitOf(newcomer);
    if (waits_for !== undefined && this.queue.length >= limits.queue_max) return queueFull(limits, waits_for);
    return this.place(newcomer, waits_for);
  }

  private refusal({ id, spec, ancestors }: SeatCandidate): HoldfastError | undefined {
    const { limits, disk } = this.ports;
    if (this.closed) return new HoldfastError("UNAVAILABLE", "The runtime is shutting down.");
    if (this.seats.has(id))
      return new HoldfastError("INVALID_STATE", `Worker ${id} is being started already.`);
    const holder = spec.name === undefined ? undefined : this.names.get(spec.name);
    if (holder !== undefined)
      return new HoldfastError(
        "ALREADY_EXISTS",
        `A living worker is called "${spec.name}" already: ${holder}.`,
      );
    return (
      refusalOf({ ...spec, ancestors }, limits, this.fleet) ??
      (disk.isLow() ? diskRefusal(disk.view()) : undefined)
    );
  }

  private waitOf({ ancestors }: SeatCandidate): QueuePlace["waits_for"] | undefined {
    const lacking = this.shortage() ?? this.scarcity();
    if (lacking !== undefined) return lacking;
    return this.isOpen && isSlotFree({ ancestors }, this.ports.limits, this.fleet) ? undefined : "slot";
  }

  private place(newcomer: SeatCandidate, waits_for: QueuePlace["waits_for"] | undefined): Ticket {
    const seat = this.seated(newcomer, this.arrivals + 1);
    if (waits_for === undefined) {
      this.holders.add(seat.id);
      seat.cleared = true;
    }
    const queued = waits_for === undefined ? undefined : this.enqueue(seat, waits_for);
    return { queued, turn: this.turnOf(seat) };
  }

  private seated({ id, spec, ancestors }: SeatCandidate, arrival: number): Seat {
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
    this.arrivals = Math.max(this.arrivals, arrival);
    this.seats.set(id, seat);
    if (name !== undefined) this.names.set(name, id);
    return seat;
  }

  /** The first turn is what admission decided. A restart has its slot, and waits for memory and disk: what was killed for want of it would be killed again. */
  private turnOf(seat: Seat): StartTurn {
    const turn = (): Promise<void> | undefined => {
      if (seat.waits_for !== undefined) return wait(seat);
      if (!this.holders.has(seat.id) && !seat.cleared) {
        // It has rested, and comes back as a newcomer.
        if (!isSlotFree(seat, this.ports.limits, this.fleet)) return this.waitAnew(seat, "slot");
        this.holders.add(seat.id);
      }
      const lacking = this.shortage() ?? this.scarcity();
      if (!seat.cleared && lacking !== undefined) return this.waitAnew(seat, lacking);
      seat.cleared = false;
      return undefined;
    };
    const isFree = (): boolean =>
      seat.waits_for === undefined &&
      this.holders.has(seat.id) &&
      this.shortage() === undefined &&
      this.scarcity() === undefined;
    return Object.assign(turn, { isFree });
  }

  private waitAnew(seat: Seat, waits_for: QueuePlace["waits_for"]): Promise<void> {
    this.arrivals += 1;
    seat.arrival = this.arrivals;
    this.ports.note(queuedRecord(seat.id, this.enqueue(seat, waits_for)));
    return wait(seat);
  }

  private enqueue(seat: Seat, waits_for: QueuePlace["waits_for"]): QueuePlace {
    const { queue } = this;
    seat.waits_for = waits_for;
    const at = queue.findIndex((other) => comesBefore(seat, other));
    queue.splice(at === -1 ? queue.length : at, 0, seat);
    return { place: queue.indexOf(seat) + 1, priority: seat.priority, waits_for };
  }

  private dequeue(seat: Seat): void {
    seat.waits_for = undefined;
    const at = this.queue.indexOf(seat);
    if (at !== -1) this.queue.splice(at, 1);
  }

  private release(seat: Seat): void {
    this.dequeue(seat);
    if (seat.resume === undefined) seat.cleared = true;
    else seat.resume();
  }

  private freed(): void {
    if (this.isOpen) this.serve(this.scarcity() !== undefined ? 0 : Number.POSITIVE_INFINITY);
  }

  /** Lets those go that can, in order, `most` of them at most. A worker that waits for another's slot holds nobody up. */
  private serve(most: number): void {
    const { queue, holders } = this;
    if (queue.length === 0 || this.closed) return;
    const short = this.shortage();
    let some = short === undefined ? most : 0;
    for (const seat of [...queue]) {
      if (!holders.has(seat.id) && !isSlotFree(seat, this.ports.limits, this.fleet)) seat.waits_for = "slot";
      else if (some <= 0) seat.waits_for = short ?? this.scarcity() ?? "memory";
      else {
        some -= 1;
        holders.add(seat.id);
        this.release(seat);
      }
    }
  }

  /** The resource that the machine has too little of to start anybody. */
  private shortage(): Shortage | undefined {
    const { disk, limits, memAvailableBytes } = this.ports;
    if (disk.isLow()) return "disk";
    const available = memAvailableBytes();
    return available !== undefined && available < limits.mem_min_bytes ? "memory" : undefined;
  }

  /** A resource that somebody waits for: it is shared out on the tick, and nobody overtakes. */
  private scarcity(): Shortage | undefined {
    for (const { waits_for } of this.queue) if (waits_for !== "slot") return waits_for;
    return undefined;
  }
}

const wait = (seat: Seat): Promise<void> =>
  new Promise((resolve) => {
    seat.resume = () => {
      seat.resume = undefined;
      resolve();
    };
  });
