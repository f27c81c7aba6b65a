/**
 * Admits workers and lets them start: names are unique among living workers, their number is bounded, workers wait in a
 * queue for slots and memory, and nothing begins during a shutdown.
 *
 * Slots are not counted up and down: a slot is a seat's membership in a set, taken in the synchronous step that decides,
 * and gone with the seat when the worker ends. A worker keeps its slot between two incarnations, as a container of a pod does.
 */
import { Effect, Semaphore } from "effect";
import type { StartTurn } from "../../actors/worker/worker.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { type RecordDraft, workerStream } from "../../protocol/records.ts";
import type { QueuePlace } from "../../protocol/replies/workers.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";
import type { Disk } from "../../supervisor/admission/disk.ts";
import {
  type Ancestor,
  comesBefore,
  diskRefusal,
  type Fleet,
  isSlotFree,
  type Limits,
  queueFull,
  refusalOf,
  type SeatRequest,
} from "../../supervisor/admission/seats.ts";

/** The reservation of a worker that is being admitted. */
export interface Ticket {
  /** Its place in the queue if it has to wait; recorded with the spawn request. */
  readonly queued: QueuePlace | undefined;
  /** Called before each incarnation: undefined if it may start at once, else resolves when it may. */
  readonly turn: StartTurn;
}

export interface SeatCandidate {
  readonly id: string;
  readonly spec: WorkerSpec;
  readonly ancestors: readonly Ancestor[];
}

interface Seat extends SeatRequest {
  readonly id: string;
  name: string | undefined;
  /**
   * The order in the queue. A restart that has to wait arrives anew, or a worker that ends again and again would always be
   * first.
   */
  arrival: number;
  waits_for: QueuePlace["waits_for"] | undefined;
  /** It was released from the queue before it asked for its turn. */
  cleared: boolean;
  /** True once its tree has started it. */
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

const nameTaken = (name: string, holder: string): HoldfastError =>
  new HoldfastError("ALREADY_EXISTS", `A living worker is called "${name}" already: ${holder}.`);

export class Admission {
  private readonly ports: AdmissionPorts;
  private readonly seats = new Map<string, Seat>();
  private readonly names = new Map<string, string>();
  /** Ids of workers that hold a slot. */
  private readonly holders = new Set<string>();
  /** The waiting workers, in order. */
  private readonly queue: Seat[] = [];
  private readonly doors: Semaphore.Semaphore;
  private readonly fleet: Fleet;
  private arrivals = 0;
  private closed = false;
  /** False during a boot, when not all held slots are known. */
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

  /**
   * Admits a worker and runs `begin`, which records the beginning and puts the worker under supervision, completely or not
   * at all. Fails with the refusal.
   */
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
      // A tree starts the worker later; it takes a seat then.
      return newcomer.spec.supervisor === "root" ? begun : Effect.andThen(begun, () => leave);
    });
    return this.doors.withPermits(1)(admitted);
  }

  /** Takes a seat for a worker that a tree starts. It is not refused, but may have to wait. */
  enter(newcomer: SeatCandidate): Ticket {
    const known = this.seats.get(newcomer.id);
    const ticket =
      known === undefined
        ? this.place(newcomer, this.waitOf(newcomer))
        : { queued: undefined, turn: this.turnOf(known) };
    const seat = this.seats.get(newcomer.id);
    if (seat !== undefined) seat.entered = true;
    // A wait only for the end of the boot is not shown.
    return this.isOpen ? ticket : { ...ticket, queued: undefined };
  }

  /**
   * Takes a seat at a boot. A worker that has begun holds its slot; another waits for `look`. `arrival` is its place in the
   * start order.
   */
  resume(newcomer: SeatCandidate, hasBegun: boolean, arrival: number): Ticket {
    const seat = this.seated(newcomer, arrival);
    if (hasBegun) this.holders.add(seat.id);
    const queued = hasBegun ? undefined : this.enqueue(seat, "slot");
    return { queued, turn: this.turnOf(seat) };
  }

  /**
   * Releases a waiting worker that is to be stopped: its tree can stop it only once it has begun. It begins without a slot,
   * and nothing is launched.
   */
  letGo(id: string): void {
    const seat = this.seats.get(id);
    if (seat?.waits_for !== undefined) this.release(seat);
  }

  /** Frees the seat of a worker that no longer lives. */
  left(id: string): void {
    const seat = this.seats.get(id);
    if (seat === undefined) return;
    this.seats.delete(id);
    if (seat.name !== undefined && this.names.get(seat.name) === id) this.names.delete(seat.name);
    this.holders.delete(id);
    this.dequeue(seat);
    this.freed();
  }

  /** How many agents may be above one. */
  depthMax(): number {
    return this.ports.limits.depth_max;
  }

  /** Why a newcomer would be refused if this many others came before it. Seats nobody. */
  refusalBehind(newcomer: SeatCandidate, others: number): HoldfastError | undefined {
    const { limits } = this.ports;
    const refused = this.refusal(newcomer);
    if (refused !== undefined) return refused;
    const fleet = { ...this.fleet, live: this.seats.size + others, running: this.holders.size };
    return refusalOf({ ...newcomer.spec, ancestors: newcomer.ancestors }, limits, fleet);
  }

  isSeated(id: string): boolean {
    return this.seats.has(id);
  }

  /** Gives a living worker another name, or none. Returns the refusal if another living worker has it. */
  rename(id: string, name: string | undefined): HoldfastError | undefined {
    const holder = name === undefined ? undefined : this.names.get(name);
    if (holder !== undefined && holder !== id) return nameTaken(name as string, holder);
    const seat = this.seats.get(id);
    if (seat === undefined) return undefined;
    if (seat.name !== undefined) this.names.delete(seat.name);
    seat.name = name;
    if (name !== undefined) this.names.set(name, id);
    return undefined;
  }

  /** Frees the slot of a worker that waits without a process, or its place in the queue. It keeps its name and its seat. */
  readonly rested = (id: string): void => {
    const seat = this.seats.get(id);
    if (seat !== undefined) {
      this.dequeue(seat);
      seat.cleared = false;
    }
    if (this.holders.delete(id)) this.freed();
  };

  /**
   * Starts the workers that can start now, on the tick. After a shortage of memory it starts one at a time, because each
   * takes some; the disk floor has its own reserve.
   */
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

  /** Closes admission. Resolves when the workers that are being admitted live. */
  readonly close: Effect.Effect<void> = Effect.suspend(() => {
    this.closed = true;
    return this.doors.withPermits(this.ports.limits.live_max)(Effect.void);
  });

  /** Opens admission again, because the runtime goes on after all. */
  reopen(): void {
    this.closed = false;
  }

  isClosed(): boolean {
    return this.closed;
  }

  /** Decides about a newcomer and seats it, in one synchronous step. */
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
    if (holder !== undefined) return nameTaken(spec.name as string, holder);
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

  /**
   * The turn of a seat. Its first use follows the decision at admission. A restart has its slot, but waits for memory and
   * disk: a worker killed by a shortage would be killed again.
   */
  private turnOf(seat: Seat): StartTurn {
    const turn = (): Promise<void> | undefined => {
      if (seat.waits_for !== undefined) return wait(seat);
      if (!this.holders.has(seat.id) && !seat.cleared) {
        // It gave up its slot while it rested, so it needs a new one.
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

  /**
   * Starts waiting workers that can start, in order, at most `most`. A worker that waits only for a slot under an
   * ancestor's limit holds up nobody else.
   */
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

  /** The resource of which the machine has too little to start any worker; undefined if it has enough. */
  private shortage(): Shortage | undefined {
    const { disk, limits, memAvailableBytes } = this.ports;
    if (disk.isLow()) return "disk";
    const available = memAvailableBytes();
    return available !== undefined && available < limits.mem_min_bytes ? "memory" : undefined;
  }

  /** A resource that a queued worker waits for. It is given out on the tick, so that nobody overtakes. */
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
