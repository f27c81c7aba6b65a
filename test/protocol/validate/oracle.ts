/**
 * A second, slow reading of protocol-v1.txt, its notes 2.1 to 2.3, and agent-event.txt, to hold the validators against. It shares no code,
 * pattern or number with src: each sentence is written again, in the plainest way that comes to mind. It gives the ids of the rules broken.
 */

type Json = Record<string, unknown>;
export type OracleLevel = "wire" | "spec";

const KB = 1024;
const isRecord = (value: unknown): value is Json =>
  value !== null && typeof value === "object" && Object.prototype.toString.call(value) === "[object Object]";
const record = (value: unknown): Json => (isRecord(value) ? value : {});
const sizeOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value) ?? "").length;
const isWhole = (value: unknown): boolean =>
  typeof value === "number" && Math.floor(value) === value && value >= 0 && value < 2 ** 53;

interface Text {
  readonly broken: string[];
  readonly value?: unknown;
}

/** Text without what stands in quotes, so that brackets and colons can be counted. */
const withoutStrings = (text: string): string => {
  let rest = "";
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    if (quoted && text[at] === "\\") at++;
    else if (text[at] === '"') {
      quoted = !quoted;
      if (!quoted) rest += "S";
    } else if (!quoted) rest += text[at];
  }
  return rest;
};

const countKeys = (value: unknown): number => {
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + countKeys(item), 0);
  return isRecord(value) ? Object.keys(value).reduce((sum, key) => sum + 1 + countKeys(value[key]), 0) : 0;
};

const someLeaf = (value: unknown, test: (leaf: unknown) => boolean): boolean =>
  value !== null && typeof value === "object"
    ? Object.values(value).some((item) => someLeaf(item, test))
    : test(value);

const SCALAR =
  /^(?:"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![^\s,:{}[\]"]))/;

/** The first JSON value of the text, found by trying: the shortest beginning that ends in a bracket and parses. */
const firstValue = (text: string): string | undefined => {
  if (!/^[{[]/.test(text)) return SCALAR.exec(text)?.[0];
  for (let end = 1; end <= text.length; end++) {
    if (!/[}\]]/.test(text[end - 1]!)) continue;
    try {
      JSON.parse(text.slice(0, end));
      return text.slice(0, end);
    } catch {
      // Not yet.
    }
  }
  return undefined;
};

/** How deep the first value nests. */
const depthOf = (text: string): number => {
  let [depth, deepest] = [0, 0];
  if (!/^[{[]/.test(text)) return 0;
  for (const char of withoutStrings(text)) {
    if (char === "{" || char === "[") deepest = Math.max(deepest, ++depth);
    if ((char === "}" || char === "]") && --depth <= 0) break;
  }
  return deepest;
};

export const readText = (bytes: Uint8Array): Text => {
  if (bytes.length > 4 * KB * KB) return { broken: ["json.size"] };
  const decoded = Buffer.from(bytes).toString("utf8");
  if (!Buffer.from(decoded, "utf8").equals(Buffer.from(bytes))) return { broken: ["json.utf8"] };
  const text = decoded.replace(/^[ \t\r\n]+/, "").replace(/[ \t\r\n]+$/, "");
  if (text === "") return { broken: ["json.empty"] };
  if (depthOf(text) > 128) return { broken: ["json.depth"] };
  let first: string | undefined = text;
  try {
    JSON.parse(text);
  } catch {
    first = firstValue(text);
  }
  if (first === undefined) return { broken: ["json.syntax"] };
  const value: unknown = JSON.parse(first);
  const broken: string[] = [];
  if (withoutStrings(first).split(":").length - 1 > countKeys(value)) broken.push("json.duplicate");
  if (first !== text) broken.push("json.trailing");
  if (someLeaf(value, (leaf) => leaf === Number.POSITIVE_INFINITY || leaf === Number.NEGATIVE_INFINITY))
    broken.push("json.number");
  return { broken, value };
};

/** RFC 3339 in UTC: Date understands it, and writes it back as it was, but for the fraction. */
const isTime = (value: unknown): boolean => {
  if (typeof value !== "string" || !/^[0-9-]{10}T[0-9:]{8}(\.[0-9]+)?Z$/.test(value)) return false;
  const whole = value.replace(/\.[0-9]+/, "");
  const date = new Date(whole);
  return !Number.isNaN(date.getTime()) && date.toISOString().replace(".000", "") === whole;
};
/** The same, however RFC 3339 lets it be written; of a leap second, where the second after the one before it is of another month. */
const isSpecTime = (value: unknown): boolean => {
  if (typeof value !== "string") return false;
  const plain = value.toUpperCase().replace(/[+-]00:00$/, "Z");
  if (!plain.startsWith("23:59:60", 11)) return isTime(plain);
  const before = plain.replace(":60", ":59");
  return isTime(before) && new Date(Date.parse(`${before.slice(0, 19)}Z`) + 1000).getUTCDate() === 1;
};

const CATALOGUE =
  "EARG EAUTH ERATELIMIT EPAGINATION ERUNTIME ENOTFOUND ETIMEOUT EPOLICY ESKILLDOWN EPARSE EOUTPUT_TOO_LARGE EENVELOPE EIO ECANCELED EOPENAPI".split(
    " ",
  );
/** The only secrets that the generators make. */
const looksSecret = (leaf: unknown): boolean => typeof leaf === "string" && leaf.includes("sk-ant-api03-");
const isLongNumber = (leaf: unknown): boolean => typeof leaf === "number" && /^[0-9]{6,}$/.test(String(leaf));
/** A text below one of the secret names that the generators make, but for a mask, nothing, or the place of the secret; or a long number. */
const tellsNamed = (value: unknown): boolean =>
  value !== null &&
  typeof value === "object" &&
  Object.keys(value).some((name) => {
    const item = (value as Json)[name];
    return name === "api_key" || name === "passwords"
      ? someLeaf(item, (leaf) =>
          typeof leaf === "string" ? !["", "***", "@env:K"].includes(leaf) : isLongNumber(leaf),
        )
      : tellsNamed(item);
  });

const isName = (part: string | undefined): boolean =>
  part !== undefined && /^[a-z0-9-]+$/.test(part) && !part.startsWith("-");
const isCommand = (value: unknown): boolean => {
  if (typeof value !== "string") return false;
  const parts = value.split("/");
  return parts.length === 2 && parts.every(isName);
};
const isDigest = (value: unknown): boolean =>
  typeof value === "string" &&
  value.length === 71 &&
  value.slice(0, 7) === "sha256:" &&
  [...value.slice(7)].every((digit) => "0123456789abcdef".includes(digit));

const WIRE_TYPES: Record<string, string> = {
  ts: "text",
  duration_ms: "int",
  source: "text",
  runner: "text",
  seq: "int",
  final: "bool",
  cas_digest: "text",
  memory: "object",
  job_id: "text",
  skill_version: "text",
  workspace: "text",
  cache_key: "text",
  partial: "bool",
  profiles: "list",
  agent_id: "text",
  mailbox_id: "text",
  correlation_id: "text",
  parent_job_id: "text",
  quota_remaining: "object",
  trace_id: "text",
};
const hasWireType = (value: unknown, type: string): boolean => {
  if (value === undefined || value === null) return true;
  if (type === "text") return typeof value === "string";
  if (type === "int") return typeof value === "number" && value % 1 === 0;
  if (type === "bool") return value === true || value === false;
  if (type === "object") return isRecord(value);
  return Array.isArray(value) && value.every((item) => item === null || typeof item === "string");
};

/** No two separators in a row, and none at the end but of a root. */
const isPlainPath = (path: string): boolean => {
  const plain = /^[a-z]:/i.test(path) ? path.slice(2).replaceAll("\\", "/") : path;
  return !plain.includes("//") && (plain === "/" || !plain.endsWith("/"));
};

const sentences = (envelope: Json, level: OracleLevel, strict: boolean): string[] => {
  const broken: string[] = [];
  const must = (rule: string, holds: boolean, levels: OracleLevel | "both" = "both"): void => {
    if (!holds && (levels === "both" || levels === level)) broken.push(rule);
  };
  const { version, status, command } = envelope;
  const data = record(envelope.data);
  const meta = record(envelope.meta);
  const error = record(envelope.error);
  const summary = record(data.summary);
  const empty = (value: unknown): boolean => value === undefined || value === null || value === "";
  const isCalm = status === "ok" || status === "progress";

  must("version", version === 1);
  must("status", ["ok", "error", "progress"].includes(status as string));
  if (status === "error")
    must(
      "error.required",
      typeof error.code === "string" &&
        error.code.length > 0 &&
        typeof error.message === "string" &&
        /\S/.test(error.message),
    );
  must("meta.ts", isSpecTime(meta.ts), "spec");
  must("wire.ts", isTime(meta.ts), "wire");
  must(
    "meta.final",
    !(status !== "progress" && (isCalm || status === "error") && meta.final === true),
    "spec",
  );
  if (!empty(meta.cas_digest)) must("meta.cas_digest", meta.cas_digest === data.artifact);
  if (meta.source === "cache") must("meta.cache_key", !empty(meta.cache_key));

  must(
    "wire.types",
    hasWireType(version, "int") &&
      hasWireType(status, "text") &&
      hasWireType(command, "text") &&
      hasWireType(envelope.meta, "object") &&
      hasWireType(envelope.error, "object") &&
      hasWireType(error.code, "text") &&
      hasWireType(error.message, "text") &&
      Object.keys(WIRE_TYPES).every((name) => hasWireType(meta[name], WIRE_TYPES[name]!)),
    "wire",
  );
  must("wire.command", typeof command === "string" && /\S/.test(command), "wire");
  if (isCalm) must("wire.error", empty(error.code) && empty(error.message), "wire");
  if (typeof data.artifact === "string" && data.artifact !== "")
    must("wire.artifact", /^sha256:/.test(data.artifact), "wire");
  if (meta.source === "memory")
    must("wire.memory", !empty(record(meta.memory).name) && !empty(record(meta.memory).type), "wire");
  if (status === "error") {
    const code = summary.status_code;
    const number =
      typeof code === "number" ? code : typeof code === "string" && /^[0-9]+$/.test(code) ? +code : 400;
    must("wire.status_code", number >= 400 && number <= 599, "wire");
  }

  must("shape", isRecord(envelope.data) && isRecord(envelope.meta) && isRecord(envelope.error), "spec");
  must("command", isCommand(command), "spec");
  must("data.inline", sizeOf(data) <= 32 * KB, "spec");
  must("meta.duration_ms", isWhole(meta.duration_ms), "spec");
  must("meta.runner", [undefined, null, "wasi", "exec", "oci"].includes(meta.runner as null), "spec");
  must("meta.source", [undefined, "run", "cache", "memory"].includes(meta.source as string), "spec");
  if ("workspace" in meta)
    must(
      "meta.workspace",
      typeof meta.workspace === "string" &&
        !meta.workspace.includes("\u0000") &&
        !/(?:^|\/)\.\.?(?:\/|$)/.test(
          /^[a-z]:/i.test(meta.workspace) ? meta.workspace.replaceAll("\\", "/") : meta.workspace,
        ) &&
        isPlainPath(meta.workspace) &&
        (meta.workspace[0] === "/" || /^[A-Z]:[/\\]/i.test(meta.workspace)),
      "spec",
    );
  must(
    "meta.types",
    ["job_id", "trace_id", "skill_version", "cache_key"].every(
      (name) => !(name in meta) || typeof meta[name] === "string",
    ) &&
      (!("profiles" in meta) ||
        (Array.isArray(meta.profiles) && meta.profiles.every((name) => typeof name === "string"))) &&
      (!("cas_digest" in meta) || isDigest(meta.cas_digest)) &&
      (!("final" in meta) || meta.final === true || meta.final === false),
    "spec",
  );
  if ("seq" in meta || status === "progress") must("meta.seq", isWhole(meta.seq), "spec");
  if (isCalm && isRecord(envelope.error))
    must("error.null", error.code === null && error.message === null, "spec");
  if (status === "error" && typeof error.code === "string" && error.code !== "")
    must("error.catalog", CATALOGUE.includes(error.code), "spec");
  if ("details" in error)
    must(
      "error.details",
      isRecord(error.details) && (!("attempts" in error.details) || isWhole(error.details.attempts)),
      "spec",
    );
  if ("artifact" in data && data.artifact !== null) {
    must("data.artifact", isDigest(data.artifact), "spec");
    must(
      "data.summary",
      isWhole(summary.size_bytes) &&
        typeof summary.kind === "string" &&
        /\S/.test(summary.kind) &&
        (isRecord(summary.preview) || Array.isArray(summary.preview) || typeof summary.preview === "string"),
      "spec",
    );
    must("data.preview", sizeOf(summary.preview) < KB, "spec");
  }
  if (status === "progress" && "pct" in data)
    must("data.pct", typeof data.pct === "number" && data.pct >= 0 && data.pct <= 100, "spec");
  must(
    "secret",
    ![envelope.data, envelope.meta, envelope.error].some(
      (part) => someLeaf(part, looksSecret) || tellsNamed(part),
    ),
    "spec",
  );

  if (strict) {
    const ofDocument =
      "ts duration_ms runner workspace job_id trace_id profiles source cas_digest skill_version cache_key seq final request_id".split(
        " ",
      );
    const known = level === "spec" ? ofDocument : [...ofDocument, ...Object.keys(WIRE_TYPES)];
    must(
      "unknown",
      Object.keys(envelope).every((name) =>
        "version status command data meta error".split(" ").includes(name),
      ) &&
        Object.keys(meta).every((name) => known.includes(name)) &&
        Object.keys(error).every((name) => ["code", "message", "details"].includes(name)),
    );
  }
  return broken;
};

/** Ids of the rules that an envelope breaks, sorted. */
export const oracle = (bytes: Uint8Array, level: OracleLevel, strict: boolean, isLine = false): string[] => {
  const { broken, value } = readText(bytes);
  const told = broken.filter(
    (rule) =>
      (rule !== "json.trailing" || strict || isLine) && (rule !== "json.duplicate" || level === "spec"),
  );
  if (value === undefined) return told;
  return [...told, ...(isRecord(value) ? sentences(value, level, strict) : ["object"])].sort();
};

/** The same of a stream, given as its lines. */
export const streamOracle = (lines: readonly Uint8Array[], level: OracleLevel): string[] => {
  const broken = new Set<string>();
  const values = lines
    .map((line) => readText(line).value)
    .map((value) => (isRecord(value) ? value : undefined));
  const looksLikeJob = (value: Json | undefined): boolean =>
    level === "wire" &&
    value !== undefined &&
    !("version" in value) &&
    !("status" in value) &&
    "percent" in value;
  // A job's file is one from its first line on; what comes after another line is held to be an envelope.
  const firstOther = values.findIndex((value) => !looksLikeJob(value));
  const jobs = new Set(values.slice(0, firstOther === -1 ? values.length : firstOther));
  const isJob = (value: Json | undefined): boolean => value !== undefined && jobs.has(value);
  lines.forEach((line, at) => {
    if (!isJob(values[at])) for (const rule of oracle(line, level, false, true)) broken.add(rule);
    else
      for (const rule of readText(line).broken)
        if (rule !== "json.duplicate" || level === "spec") broken.add(rule);
  });
  const envelopes = values.filter((value) => value !== undefined && !isJob(value)) as Json[];
  const isTerminal = ({ status }: Json): boolean => status === "ok" || status === "error";
  const ends = envelopes.filter(isTerminal).length;
  if (ends === 0 && !(values.length > 0 && values.every(isJob))) broken.add("stream.terminal");
  if (ends > 0 && envelopes.findIndex(isTerminal) < envelopes.length - 1) broken.add("stream.after");

  const progress = envelopes.filter(({ status }) => status === "progress");
  const seqs = progress.map(({ meta }) => record(meta).seq).filter(isWhole) as number[];
  const firstSeq = record(progress[0]?.meta).seq;
  if (level === "spec" && isWhole(firstSeq) && firstSeq !== 0) broken.add("stream.first");
  if (seqs.some((seq, at) => at > 0 && seq <= seqs[at - 1]!)) broken.add("stream.seq");
  if (progress.some(({ meta }, at) => at < progress.length - 1 && record(meta).final === true))
    broken.add("stream.final");

  const percents = values.flatMap((value): (readonly [string, number])[] => {
    if (value === undefined) return [];
    if (isJob(value)) {
      const { percent, ts } = value;
      if (!isTime(ts)) broken.add("job.ts");
      const isGood = typeof percent === "number" && percent >= 0 && percent <= 100;
      if (!isGood) broken.add("job.percent");
      return isGood ? [["job.percent", percent]] : [];
    }
    const { pct } = record(value.data);
    return value.status === "progress" && typeof pct === "number" ? [["stream.pct", pct]] : [];
  });
  for (const kind of ["job.percent", "stream.pct"]) {
    const own = percents.filter(([rule]) => rule === kind).map(([, percent]) => percent);
    if (own.some((percent, at) => at > 0 && percent < own[at - 1]!)) broken.add(kind);
  }
  return [...broken].sort();
};

const KINDS = ["TextOutput", "ToolCall", "ToolResult", "Status", "Error", "Unknown"];
const nesting = (value: unknown): number =>
  value !== null && typeof value === "object" ? 1 + Math.max(0, ...Object.values(value).map(nesting)) : 0;

/** Ids of the rules that one line breaks as an AgentEvent, sorted. */
export const eventOracle = (bytes: Uint8Array, strict: boolean): string[] => {
  const { broken, value } = readText(bytes);
  if (value === undefined) return broken;
  if (!isRecord(value)) return [...broken, "event.object"].sort();
  const rules = new Set(broken);
  const must = (rule: string, holds: boolean): void => void (holds || rules.add(rule));
  const short = (name: string, bytesMax: number): boolean =>
    !(name in value) ||
    (typeof value[name] === "string" && Buffer.from(value[name], "utf8").length <= bytesMax);
  must(
    "event.agent_kind",
    typeof value.agent_kind === "string" && /^[a-z]([a-z]|[0-9]|_)*$/.test(value.agent_kind),
  );
  must("event.kind", KINDS.includes(value.kind as string));
  must("event.channel", short("channel", 128));
  must("event.text", short("text", 64 * KB));
  must("event.message", short("message", 4 * KB));
  if ("data" in value) must("event.data", sizeOf(value.data) <= 64 * KB && nesting(value.data) <= 100);
  must(
    "event.fields",
    Object.keys(value).every((name) =>
      ["agent_kind", "kind", "channel", "text", "message", "data"].includes(name),
    ),
  );
  if (strict) {
    must("event.payload", (value.kind === "TextOutput") === "text" in value);
    must("event.payload", !(value.kind === "TextOutput" && "message" in value));
    must("event.payload", !(value.kind === "Error" && !("message" in value)));
  }
  return [...rules].sort();
};
