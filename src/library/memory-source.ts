/** Output in memory as a `Source`: what a runtime fills that keeps no files. Bytes that are released are freed. */
import type { OpenSource, Source } from "../adapters/source.ts";

export class MemorySource implements Source {
  /** The bytes from `start` on; `used` of them are filled. */
  private bytes = Buffer.alloc(0);
  private used = 0;
  private start = 0;

  append(more: string | Uint8Array): void {
    const added = typeof more === "string" ? Buffer.from(more) : more;
    const needed = this.used + added.length;
    if (needed > this.bytes.length) {
      const larger = Buffer.alloc(Math.max(needed, 2 * this.bytes.length));
      this.bytes.copy(larger, 0, 0, this.used);
      this.bytes = larger;
    }
    this.bytes.set(added, this.used);
    this.used = needed;
  }

  size(): number {
    return this.start + this.used;
  }

  open(): OpenSource {
    return {
      size: this.size(),
      read: (from, into) => this.read(from, into),
      close: () => undefined,
    };
  }

  async tail(bytes: number): Promise<string> {
    return this.bytes.toString("utf8", Math.max(0, this.used - bytes), this.used);
  }

  releasedBelow(): number {
    return this.start;
  }

  async release(_from: number, below: number): Promise<boolean> {
    const gone = Math.min(below, this.size()) - this.start;
    if (gone <= 0) return false;
    this.bytes = Buffer.from(this.bytes.subarray(gone, this.used));
    this.used -= gone;
    this.start += gone;
    return true;
  }

  held(ingested: number): number {
    return Math.min(this.used, Math.max(0, this.size() - ingested));
  }

  /** Bytes that were released read as zeros, as in a file with a hole. */
  private read<Bytes extends Uint8Array>(from: number, into: Bytes): Bytes {
    const length = Math.max(0, Math.min(into.length, this.size() - from));
    into.fill(0, 0, length);
    const kept = Math.max(from, this.start);
    this.bytes.copy(into, kept - from, kept - this.start, from + length - this.start);
    return into.subarray(0, length) as Bytes;
  }
}
