/**
 * Protocol buffers, written from their end into one buffer: what is written last stands first, and the length of a message is known
 * when its head is written. https://protobuf.dev/programming-guides/encoding/
 */

const START_BYTES = 64 * 1024;
/** A varint of 64 bits. */
const VARINT_MAX_BYTES = 10;
const WIRE = { varint: 0, fixed64: 1, counted: 2 } as const;

export class ProtobufWriter {
  private room: Buffer;
  private at: number;

  constructor(start_bytes = START_BYTES) {
    this.room = Buffer.allocUnsafe(start_bytes);
    this.at = start_bytes;
  }

  /** Bytes that are written: before a message's fields, it is the `end` of that message. */
  get size(): number {
    return this.room.length - this.at;
  }

  finish(): Uint8Array {
    return this.room.subarray(this.at);
  }

  text(field: number, value: string): void {
    const bytes = this.ascii(value) ?? this.utf8(value);
    this.counted(field, bytes);
  }

  /** Bytes of another writer, as they are. */
  raw(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.at -= bytes.length;
    this.room.set(bytes, this.at);
  }

  /** Bytes, given in hexadecimal. */
  hex(field: number, value: string): void {
    const bytes = value.length / 2;
    this.reserve(bytes);
    this.at -= bytes;
    this.room.write(value, this.at, "hex");
    this.counted(field, bytes);
  }

  /** A number of 64 bits, or a truth value. */
  varint(field: number, value: number | bigint): void {
    this.rawVarint(value);
    this.head(field, WIRE.varint);
  }

  /** A number of 64 bits, in its halves of 32. */
  fixed64(field: number, high: number, low: number): void {
    this.reserve(8);
    this.at -= 8;
    this.room.writeUInt32LE(low, this.at);
    this.room.writeUInt32LE(high, this.at + 4);
    this.head(field, WIRE.fixed64);
  }

  double(field: number, value: number): void {
    this.reserve(8);
    this.at -= 8;
    this.room.writeDoubleLE(value, this.at);
    this.head(field, WIRE.fixed64);
  }

  /** The head of a message whose fields have been written since the size was `end`. */
  message(field: number, end: number): void {
    this.counted(field, this.size - end);
  }

  /** Written without a call of the system's encoder, which costs more than a short text. Undefined if it is no ASCII. */
  private ascii(value: string): number | undefined {
    const { length } = value;
    this.reserve(length);
    const { room } = this;
    const at = this.at - length;
    for (let place = 0; place < length; place += 1) {
      const code = value.charCodeAt(place);
      if (code >= 0x80) return undefined;
      room[at + place] = code;
    }
    this.at = at;
    return length;
  }

  private utf8(value: string): number {
    const bytes = Buffer.byteLength(value);
    this.reserve(bytes);
    this.at -= bytes;
    this.room.write(value, this.at);
    return bytes;
  }

  private counted(field: number, bytes: number): void {
    this.rawVarint(bytes);
    this.head(field, WIRE.counted);
  }

  private head(field: number, wire: number): void {
    this.rawVarint(field * 8 + wire);
  }

  private rawVarint(value: number | bigint): void {
    this.reserve(VARINT_MAX_BYTES);
    if (typeof value === "number" && value >= 0 && value < 0x80 && Number.isInteger(value)) {
      this.room[--this.at] = value;
      return;
    }
    const isSmall = typeof value === "number" && value >= 0 && Number.isSafeInteger(value);
    const groups = isSmall ? groupsOf(value) : wideGroupsOf(value);
    for (let group = groups.length - 1; group >= 0; group -= 1) this.room[--this.at] = groups[group]!;
  }

  private reserve(bytes: number): void {
    if (this.at >= bytes) return;
    const { room, size } = this;
    this.room = Buffer.allocUnsafe(2 * (room.length + bytes));
    room.copy(this.room, this.room.length - size, room.length - size);
    this.at = this.room.length - size;
  }
}

/** Seven bits a byte, the lowest first; all but the last have the highest bit. */
const groupsOf = (value: number): readonly number[] => {
  const groups: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) groups.push((rest % 0x80) | 0x80);
  groups.push(rest);
  return groups;
};

/** A negative number is that of 64 bits, as two's complement. */
const wideGroupsOf = (value: number | bigint): readonly number[] => {
  const groups: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest >= 0x80n; rest >>= 7n) groups.push(Number(rest & 0x7fn) | 0x80);
  groups.push(Number(rest));
  return groups;
};
