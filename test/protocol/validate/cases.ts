/**
 * Envelopes and events for the fuzzer: a valid one, some members of it replaced by what may be wrong, and then the text of it damaged. All is
 * chosen by small numbers, so that a case is made in microseconds and shrinks to what matters.
 */
import fc from "fast-check";

type Json = Record<string, unknown>;
type Path = readonly string[];

/** The member is left out. */
const ABSENT = Symbol("absent");
const DIGEST = `sha256:${"0a".repeat(32)}`;
const OTHER_DIGEST = `sha256:${"0b".repeat(32)}`;
export const SECRET = "it is sk-ant-api03-AAAAbbbbCCCCdddd1111 and more";
/** With it the data of the first envelope is exactly 32 KB. */
const INLINE_EXACT = "i".repeat(32 * 1024 - '{"files":1,"inline":""}'.length);
/** Written as a number that no double holds. */
const HUGE = "@HUGE@";
const SUMMARY = { size_bytes: 10, kind: "text/plain", preview: ["a"] };
const ok: Json = {
  version: 1,
  status: "ok",
  command: "fs/ls",
  data: { files: 1 },
  meta: {
    ts: "2026-05-12T00:00:00Z",
    duration_ms: 3,
    runner: "exec",
    source: "run",
    workspace: "/w",
    request_id: "r",
  },
  error: { code: null, message: null },
};
const BASES: readonly Json[] = [
  ok,
  {
    ...ok,
    status: "error",
    data: { hint: "h" },
    error: { code: "EARG", message: "m", details: { attempts: 2 } },
  },
  { ...ok, status: "progress", data: { pct: 5 }, meta: { ...(ok.meta as Json), seq: 0 } },
  {
    ...ok,
    data: { artifact: DIGEST, summary: SUMMARY },
    meta: { ...(ok.meta as Json), cas_digest: DIGEST },
  },
  {
    ...ok,
    status: "error",
    data: { summary: { status_code: 502 } },
    error: { code: "ERUNTIME", message: "Bad gateway" },
  },
  { version: 1, status: "ok", command: "a.b", meta: { ts: "2026-05-12T00:00:00.123Z" }, error: {} },
];

const ODD: readonly unknown[] = [
  ABSENT,
  null,
  "",
  " ",
  "x",
  0,
  1,
  -1,
  1.5,
  2 ** 53,
  HUGE,
  true,
  false,
  [],
  ["a"],
  [1],
  {},
  { a: { b: [1] } },
  SECRET,
];
const TEXTS = ["job_id", "trace_id", "skill_version", "cache_key", "agent_id"];
const MEMBERS: readonly (readonly [Path, readonly unknown[]])[] = [
  [["version"], [2]],
  [["status"], ["ok", "error", "progress", "done"]],
  [
    ["command"],
    ["http/openapi", "a.b", "a/b/c", "A/b", "-a/b", "fs/", "code/semantic_search", "a--/-b", "0/0-"],
  ],
  [["data"], []],
  [["meta"], []],
  [["error"], [{ code: null }, { code: "EIO", message: "\u00a0" }]],
  [["added"], []],
  [["__proto__"], []],
  [
    ["data", "artifact"],
    [DIGEST, OTHER_DIGEST, DIGEST.toUpperCase(), "sha256:0a", "md5:00", `${DIGEST}\n`],
  ],
  [
    ["data", "summary"],
    [SUMMARY, { ...SUMMARY, kind: 1 }, { ...SUMMARY, size_bytes: -1 }, { status_code: 404 }],
  ],
  [
    ["data", "summary", "status_code"],
    [200, 399, 400, 599, 600, "200", "503", "5e2"],
  ],
  [
    ["data", "summary", "preview"],
    ["p".repeat(1021), "p".repeat(1022), "é".repeat(511), { a: "é".repeat(508) }],
  ],
  [
    ["data", "pct"],
    [100, 101, 99.5, -0.1],
  ],
  [["data", "percent"], [1]],
  [
    ["data", "api_key"],
    ["***", "@env:K", "hunter2", ["***", "hunter2"]],
  ],
  [
    ["error", "details", "passwords"],
    [["***"], { prod: "hunter2", stage: "" }, { cache_key: "hunter2" }],
  ],
  [
    ["data", "inline"],
    [INLINE_EXACT, `${INLINE_EXACT}i`, "i".repeat(32_700), "i".repeat(32_768), "\n".repeat(16_384)],
  ],
  [
    ["meta", "ts"],
    [
      "2024-02-29T23:59:59Z",
      "2026-02-29T00:00:00Z",
      "2100-02-29T00:00:00Z",
      "2026-05-12T00:00:00+00:00",
      "2026-05-12t00:00:00z",
      "2026-05-12T24:00:00Z",
      "2026-05-12T23:59:60Z",
      "2026-06-30T23:59:60Z",
      "2026-06-30T23:59:60.5-00:00",
      "2026-06-30T23:58:60Z",
      "2026-05-12T00:00:00+01:00",
      "2026-05-12T00:00Z",
      "2026-13-01T00:00:00Z",
      "2026-04-31T00:00:00Z",
      "2026-05-12T00:00:00.123456789Z",
      "2026-05-12 00:00:00Z",
      "0000-01-01T00:00:00Z",
    ],
  ],
  [["meta", "duration_ms"], [2 ** 53 - 1]],
  [
    ["meta", "runner"],
    ["wasi", "oci", "shell"],
  ],
  [
    ["meta", "source"],
    ["run", "cache", "memory", "proto"],
  ],
  [
    ["meta", "workspace"],
    [
      "C:\\w",
      "z:/w",
      "w",
      "/a\u0000",
      "/a/../../b",
      "/a/.",
      "/a/..b/.c",
      "C:\\a\\..",
      "/a\\..",
      "/",
      "/a//b",
      "/a/",
      "C:\\",
      "C:\\a\\\\b",
    ],
  ],
  ...TEXTS.map((name) => [["meta", name], ["t"]] as const),
  [
    ["meta", "profiles"],
    [["core/v1"], ["core/v1", null]],
  ],
  [
    ["meta", "memory"],
    [{ name: "n", type: "t" }, { name: "n" }, { name: "", type: 1 }],
  ],
  [
    ["meta", "cas_digest"],
    [DIGEST, OTHER_DIGEST],
  ],
  [["meta", "seq"], [7]],
  [["meta", "final"], []],
  [["meta", "workspace_id"], ["w"]],
  [
    ["error", "code"],
    ["EIO", "ERUNTIME_RESTART", "constructor"],
  ],
  [["error", "message"], ["m"]],
  [
    ["error", "details"],
    [{ attempts: 1.5 }, { attempts: null }, { attempts: 0 }],
  ],
  [["error", "hint"], ["h"]],
];
const EVENT_BASES: readonly Json[] = [
  { agent_kind: "codex", kind: "TextOutput", text: "t", channel: "assistant" },
  { agent_kind: "claude_code", kind: "Error", message: "m" },
  { agent_kind: "command", kind: "ToolCall", channel: "tool", data: { id: 1 } },
];
const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
const EVENT_MEMBERS: typeof MEMBERS = [
  [["agent_kind"], ["a", "a1_", "A", "1a", "a-b", "a\n"]],
  [["kind"], ["TextOutput", "ToolResult", "Status", "Unknown", "Error", "error"]],
  [["channel"], ["c".repeat(128), "c".repeat(129), "é".repeat(64), "é".repeat(65)]],
  [["text"], ["t".repeat(65_536), "t".repeat(65_537)]],
  [["message"], ["m".repeat(4096), "m".repeat(4097), "🦀".repeat(1024), "🦀".repeat(1025)]],
  [["data"], ["d".repeat(65_534), "d".repeat(65_535), nested(100), nested(101), "\n".repeat(32_768)]],
  [["seq"], []],
  [["toString"], []],
];

const changesOf = (members: typeof MEMBERS) =>
  members.flatMap(([path, values]) => [...ODD, ...values].map((value) => ({ path, value })));
type Change = ReturnType<typeof changesOf>[number];
const CHANGES = changesOf(MEMBERS);
const EVENT_CHANGES = changesOf(EVENT_MEMBERS);

/** A copy with the change; where the way there is no object there is nothing to change. */
const changed = (value: Json, { path: [name, ...rest], value: to }: Change): Json => {
  const copy = Object.create(null) as Json;
  for (const key of Object.keys(value)) copy[key] = value[key];
  if (rest.length > 0) {
    const inner = copy[name!];
    if (typeof inner === "object" && inner !== null && !Array.isArray(inner))
      copy[name!] = changed(inner as Json, { path: rest, value: to });
  } else if (to === ABSENT) delete copy[name!];
  else copy[name!] = to;
  return copy;
};

const TOO_LARGE = Buffer.alloc(4 * 1024 * 1024 + 1, " ");
const nestedText = (depth: number): string => `{"data":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;

/** `at` is a place in the text, or whatever else a damage has to choose. */
const DAMAGES: readonly ((text: string, at: number) => string | Buffer)[] = [
  (text) => `${text} x`,
  (text) => `${text}\n${text}`,
  (text) => `${text}{}`,
  (text) => `\ufeff${text}`,
  (text, at) => `${text.slice(0, at)}\u0000${text.slice(at)}`,
  (text, at) =>
    Buffer.concat([Buffer.from(text.slice(0, at)), Buffer.from([0xff]), Buffer.from(text.slice(at))]),
  (text, at) =>
    Buffer.concat([
      Buffer.from(text.slice(0, at)),
      Buffer.from([0xed, 0xa0, 0x80]),
      Buffer.from(text.slice(at)),
    ]),
  (text, at) => text.slice(0, at),
  (text, at) => text.slice(at),
  (text, at) => `${text.slice(0, at)}${'"{}[],:\\0e-'[at % 11]}${text.slice(at)}`,
  (text) => text.replace("{", '{"version":2,'),
  (text) => text.replace("{", '{"\\u0076ersion":2,"kind":"x",'),
  (text) => text.replace(/"meta":\{/, '"meta":{"ts":"x",'),
  (text) => text.replace(/"text":/, '"text":"x","text":'),
  (_text, at) => nestedText(128 + (at % 3) - 1),
  (_text, at) => "[".repeat(at * 100),
  (_text, at) => ["", " \r\n", "[]", "12", '"x', "nul", "12 34", "}", "-", "true,"][at % 10]!,
  (text, at) => (at % 25 === 0 ? TOO_LARGE : text),
  (text) => `\t${text.replaceAll(",", " ,\r\n ")}\r\n`,
];

export interface Case {
  readonly base: number;
  readonly changes: readonly number[];
  readonly damage: number;
  readonly at: number;
  readonly isPretty: boolean;
}

const choices = (bases: number, changes: number): fc.Arbitrary<Case> =>
  fc.record({
    base: fc.nat(bases - 1),
    changes: fc.array(fc.nat(changes - 1), { maxLength: 4 }),
    damage: fc.oneof(
      { arbitrary: fc.constant(-1), weight: 4 },
      { arbitrary: fc.nat(DAMAGES.length - 1), weight: 1 },
    ),
    at: fc.nat(1_000),
    isPretty: fc.boolean(),
  });

/** Whether a damaged secret, or its name, or what stands for it, is one still is not what the oracle knows; nor whether a damaged cache_key tells a key. */
const UNDAMAGED = [SECRET, '"api_key"', '"cache_key"', '"passwords"', '"***"', '"@env:K"'];
const outsideSecrets = (text: string, at: number): number => {
  for (const kept of UNDAMAGED) {
    const start = text.lastIndexOf(kept, at);
    if (start >= 0 && at < start + kept.length) return start;
  }
  return at;
};

const bytesOf = (bases: readonly Json[], all: readonly Change[], given: Case): Buffer => {
  let value = bases[given.base]!;
  for (const change of given.changes) value = changed(value, all[change]!);
  const text = JSON.stringify(value, null, given.isPretty ? 2 : undefined).replaceAll(`"${HUGE}"`, "1e999");
  const at = outsideSecrets(text, given.at % (text.length + 1));
  const damaged = given.damage < 0 ? text : DAMAGES[given.damage]!(text, at);
  return Buffer.from(damaged as string);
};

export const envelopeCase = choices(BASES.length, CHANGES.length);
export const eventCase = choices(EVENT_BASES.length, EVENT_CHANGES.length);
export const envelopeBytes = (given: Case): Buffer => bytesOf(BASES, CHANGES, given);
export const eventBytes = (given: Case): Buffer => bytesOf(EVENT_BASES, EVENT_CHANGES, given);

const PROGRESS_OF_JOB = { ts: "2026-05-12T00:00:00Z", message: "m", percent: 5 };
/** The change of a progress envelope for the next line of a stream, or the line instead. */
const NEXT: readonly ((seq: number) => unknown)[] = [
  ...[0, 0, 0, 1, 2, -1].map((step) => (seq: number) => ({
    ...BASES[2],
    meta: { ...(ok.meta as Json), seq: seq + step },
  })),
  ...[5, 6, 4, 100].map((pct) => (seq: number) => ({
    ...BASES[2],
    data: { pct },
    meta: { ...(ok.meta as Json), seq },
  })),
  (seq) => ({ ...BASES[2], meta: { ...(ok.meta as Json), seq, final: true } }),
  () => BASES[0],
  () => BASES[1],
  () => ({ ...ok, status: "done" }),
  () => [],
  () => PROGRESS_OF_JOB,
  () => ({ ...PROGRESS_OF_JOB, percent: 4 }),
  () => ({ ...PROGRESS_OF_JOB, percent: 101 }),
  () => ({ ...PROGRESS_OF_JOB, ts: "now" }),
];

/** Lines of a stream; mostly progress numbered in order. */
export const streamCase = fc.record({
  lines: fc.array(fc.nat(NEXT.length - 1), { maxLength: 6 }),
  isEnded: fc.boolean(),
  odd: fc.option(envelopeCase, { freq: 4 }),
});
export const streamLines = (given: typeof streamCase extends fc.Arbitrary<infer T> ? T : never): Buffer[] => {
  const lines = given.lines.map((next, seq) => Buffer.from(JSON.stringify(NEXT[next]!(seq))));
  if (given.odd !== null) lines.push(Buffer.from(envelopeBytes(given.odd).toString().replaceAll("\n", " ")));
  if (given.isEnded) lines.push(Buffer.from(JSON.stringify(ok)));
  return lines;
};
