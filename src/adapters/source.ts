/**
 * `Source`, the port through which a run's output is read: bytes with offsets that never change. The same offset gives the
 * same byte to every reader, also to the next daemon's, so an offset is the key by which a repeated read is recognised.
 * The spool file of a process is one implementation, memory another.
 *
 * The run itself tells when there may be more (`Run.onOutput`) and when there will be no more (`Run.exited`).
 */

export interface Source {
  /** Bytes so far; 0 if there are none. */
  size(): number;
  /**
   * Opens the bytes for some reads. Undefined if there are none. Throws the system's error if they cannot be opened now; a
   * reader that finds no free descriptor tries again.
   */
  open(): OpenSource | undefined;
  /** The last bytes as text. Invalid UTF-8 is replaced. */
  tail(bytes: number): Promise<string>;
  /** The offset below which the bytes are gone. Asked after a read, to learn whether the bytes were real. */
  releasedBelow(): number;
  /**
   * Gives the space of [from, below) back; offsets do not change. True if it was done; never rejects. The output below
   * `below` must be in the log for good.
   */
  release(from: number, below: number): Promise<boolean>;
  /** Bytes of space that will stay: not ingested, or not releasable. */
  held(ingested: number): number;
}

export interface OpenSource {
  /** Bytes when it was opened. */
  readonly size: number;
  /** Fills `into` with the bytes from this offset on; returns its filled part, which is shorter at the end. */
  read<Bytes extends Uint8Array>(from: number, into: Bytes): Bytes;
  close(): void;
}
