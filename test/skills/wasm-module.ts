/**
 * A small module of WebAssembly for WASI, byte by byte: it opens a path below its first directory, and prints one envelope with
 * what it read, or with the errno. Other modules never end, fill their memory, or print for ever.
 */

const unsigned = (value: number): number[] =>
  value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)];
const signed = (value: number): number[] => {
  const rest = value >> 7;
  const isLast = (rest === 0 && (value & 64) === 0) || (rest === -1 && (value & 64) !== 0);
  return isLast ? [value & 127] : [(value & 127) | 128, ...signed(rest)];
};
const vector = (items: readonly (readonly number[])[]): number[] => [
  ...unsigned(items.length),
  ...items.flat(),
];
const bytesOf = (text: string): number[] => [...Buffer.from(text)];
const named = (text: string): number[] => vector(bytesOf(text).map((byte) => [byte]));
const section = (id: number, content: readonly number[]): number[] => [
  id,
  ...unsigned(content.length),
  ...content,
];

const [I32, I64] = [0x7f, 0x7e];
const functionType = (parameters: readonly number[], results: readonly number[]): number[] => [
  0x60,
  ...vector(parameters.map((one) => [one])),
  ...vector(results.map((one) => [one])),
];
const i32 = (value: number): number[] => [0x41, ...signed(value)];
const i64 = (value: number): number[] => [0x42, ...signed(value)];
const call = (index: number): number[] => [0x10, ...unsigned(index)];
const store = (at: number, value: readonly number[]): number[] => [...i32(at), ...value, 0x36, 2, 0];
const load = (at: number): number[] => [...i32(at), 0x28, 2, 0];
const DROP = 0x1a;

/** The functions of WASI that it imports, by their numbers. */
const [PATH_OPEN, FD_READ, FD_WRITE] = [0, 1, 2];
const IMPORTS = [
  ["path_open", functionType([I32, I32, I32, I32, I32, I64, I64, I32, I32], [I32])],
  ["fd_read", functionType([I32, I32, I32, I32], [I32])],
  ["fd_write", functionType([I32, I32, I32, I32], [I32])],
] as const;

/** Places in its memory. */
const [FD, COUNT, ONE, PATH, HEAD, TAIL, REFUSED, READ] = [0, 4, 8, 64, 1_024, 2_048, 3_072, 4_096];
const READ_MAX = 1_024;

const module = (
  body: readonly number[],
  data: readonly (readonly [number, string])[],
  more: string[] = [],
): Buffer => {
  const types = [...IMPORTS.map(([, type]) => type), functionType([], [])];
  const imports = [
    ...IMPORTS.map(([name], at) => [name, at] as const),
    ...more.map((name) => [name, 3] as const),
  ];
  const start = imports.length;
  const code = [...vector([]), ...body, 0x0b];
  return Buffer.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, vector(types)),
    ...section(
      2,
      vector(imports.map(([name, type]) => [...named("wasi_snapshot_preview1"), ...named(name), 0, type])),
    ),
    ...section(3, vector([[3]])),
    ...section(5, vector([[0, 1]])),
    ...section(
      7,
      vector([
        [...named("memory"), 2, 0],
        [...named("_start"), 0, start],
      ]),
    ),
    ...section(10, vector([[...unsigned(code.length), ...code]])),
    ...section(11, vector(data.map(([at, text]) => [0, ...i32(at), 0x0b, ...named(text)]))),
  ]);
};

const print = (at: number, length: readonly number[]): number[] => [
  ...store(ONE, i32(at)),
  ...store(ONE + 4, length),
  ...[...i32(1), ...i32(ONE), ...i32(1), ...i32(COUNT), ...call(FD_WRITE), DROP],
];

const envelope = (name: string): readonly [string, string] => [
  `{"version":1,"status":"ok","command":"${name}","data":{"got":"`,
  '"},"meta":{"ts":"2026-05-12T00:00:00Z","duration_ms":0},"error":{"code":null,"message":null}}',
];
const NOTHING = "refused";

/** Answers with the text of the file, or with `refused`. */
export const readsFile = (name: string, path: string): Buffer => {
  const [head, tail] = envelope(name);
  const opened = [
    ...[...i32(3), ...i32(1), ...i32(PATH), ...i32(Buffer.byteLength(path)), ...i32(0)],
    ...[...i64(2), ...i64(2), ...i32(0), ...i32(FD), ...call(PATH_OPEN)],
  ];
  const readable = [
    ...[...store(ONE, i32(READ)), ...store(ONE + 4, i32(READ_MAX))],
    ...[...load(FD), ...i32(ONE), ...i32(1), ...i32(COUNT), ...call(FD_READ), DROP],
    ...print(READ, load(COUNT)),
  ];
  const body = [
    ...print(HEAD, i32(Buffer.byteLength(head))),
    ...[...opened, 0x04, 0x40, ...print(REFUSED, i32(NOTHING.length)), 0x05, ...readable, 0x0b],
    ...print(TAIL, i32(Buffer.byteLength(tail))),
  ];
  return module(body, [
    [PATH, path],
    [HEAD, head],
    [TAIL, tail],
    [REFUSED, NOTHING],
  ]);
};

const forever = (body: readonly number[]): number[] => [0x03, 0x40, ...body, 0x0c, 0, 0x0b];

export const neverEnds = (): Buffer => module(forever([]), []);
/** Prints its memory for ever, 64 KiB at a time. */
export const printsForever = (): Buffer => module(forever(print(0, i32(65_536))), []);
/** Takes memory by the page until it gets no more, and answers only then. */
export const takesMemory = (name: string): Buffer => {
  const text = envelope(name).join("full");
  // memory.grow gives -1 where it is refused.
  const grow = [0x03, 0x40, ...i32(1), 0x40, 0, ...i32(-1), 0x47, 0x0d, 0, 0x0b];
  return module([...grow, ...print(HEAD, i32(Buffer.byteLength(text)))], [[HEAD, text]]);
};
/** Wants a function that WASI does not have. */
export const wantsSocket = (): Buffer => module([], [], ["sock_open"]);
