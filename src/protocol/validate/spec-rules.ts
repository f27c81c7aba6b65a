/** The rules of protocol-v1.txt that the originals do not check. */
import { PREVIEW_UNDER_BYTES } from "../../base/limits.ts";
import { COMMAND_FORM, isCount, isDigest, isObject, isUtcTime, jsonBytes } from "../forms.ts";
import { type EnvelopeRule, isBlank, type ReportProblem, shown } from "./envelope-rule.ts";
import { isCatalogued, META_TEXTS, RUNNERS, SOURCES } from "./fields.ts";
import { secretsIn } from "./secrets.ts";

const optionalText = (pointer: string, value: unknown, tell: ReportProblem): void => {
  if (value !== undefined && typeof value !== "string")
    tell(pointer, `${pointer.slice(1).replaceAll("/", ".")} is ${shown(value)}, not text.`);
};

/** Absolute and canonical (Security invariants, Workspace confinement), in POSIX or Windows form: no step is empty, `.` or `..`. */
const isSanitizedPath = (path: string): boolean => {
  const isWindows = /^[A-Za-z]:[\\/]/.test(path);
  const steps = path.split(isWindows ? /[\\/]/ : "/").slice(1);
  const isRoot = steps.length === 1 && steps[0] === "";
  return (
    (isWindows || path.startsWith("/")) &&
    !path.includes("\0") &&
    (isRoot || !steps.some((step) => ["", ".", ".."].includes(step)))
  );
};

export const SPEC_RULES: readonly EnvelopeRule[] = [
  {
    id: "shape",
    levels: ["spec"],
    source: "protocol-v1.txt, Envelope shape: data, meta and error are objects, error even for ok",
    remedy:
      "Write all six members: version, status, command, data, meta and error; the last three as objects.",
    check: ({ envelope }, tell) => {
      for (const name of ["data", "meta", "error"])
        if (!isObject(envelope[name]))
          tell(`/${name}`, `${name} is ${shown(envelope[name])}, not an object.`);
    },
  },
  {
    id: "command",
    levels: ["spec"],
    source: "protocol-v1.txt, command: MUST match ^[a-z0-9][a-z0-9-]*/[a-z0-9][a-z0-9-]*$",
    remedy: "Write the command as namespace/verb in a-z, 0-9 and hyphens, with one slash.",
    check: ({ envelope: { command } }, tell) => {
      if (typeof command !== "string" || !COMMAND_FORM.test(command))
        tell("/command", `command is ${shown(command)}.`);
    },
  },
  {
    id: "data.inline",
    levels: ["spec"],
    source: "protocol-v1.txt, data: what exceeds the inline threshold, 32 KB, MUST be artifactized",
    remedy: "Move the output to the artifact store, and send data.summary and data.artifact.",
    check: ({ data, inline_max_bytes }, tell) => {
      const bytes = jsonBytes(data);
      if (bytes > inline_max_bytes)
        tell("/data", `data is ${bytes} bytes of JSON, over ${inline_max_bytes}.`);
    },
  },
  {
    id: "meta.ts",
    levels: ["spec"],
    source: "protocol-v1.txt, meta: ts is an RFC3339 UTC timestamp and MUST be present",
    remedy: "Write meta.ts like 2026-05-12T00:00:00Z, in UTC.",
    check: ({ meta: { ts } }, tell) => {
      if (typeof ts !== "string" || !isUtcTime(ts)) tell("/meta/ts", `meta.ts is ${shown(ts)}.`);
    },
  },
  {
    id: "meta.duration_ms",
    levels: ["spec"],
    source: "protocol-v1.txt, meta: duration_ms is an integer, MUST be >= 0",
    remedy: "Write meta.duration_ms as whole milliseconds, 0 or more.",
    check: ({ meta }, tell) => {
      if (!isCount(meta.duration_ms))
        tell("/meta/duration_ms", `meta.duration_ms is ${shown(meta.duration_ms)}.`);
    },
  },
  {
    id: "meta.runner",
    levels: ["spec"],
    source: "protocol-v1.txt, meta: runner is wasi, exec, oci or null",
    remedy: "Write wasi, exec, oci or null, or leave meta.runner out.",
    check: ({ meta: { runner } }, tell) => {
      if (runner !== undefined && !RUNNERS.includes(runner))
        tell("/meta/runner", `meta.runner is ${shown(runner)}.`);
    },
  },
  {
    id: "meta.source",
    levels: ["spec"],
    source: "protocol-v1.txt, meta: source is run, cache or memory",
    remedy: "Write run, cache or memory, or leave meta.source out.",
    check: ({ meta: { source } }, tell) => {
      if (source !== undefined && !SOURCES.includes(source))
        tell("/meta/source", `meta.source is ${shown(source)}.`);
    },
  },
  {
    id: "meta.workspace",
    levels: ["spec"],
    source: "protocol-v1.txt, meta: workspace is a sanitized absolute path",
    remedy:
      "Write the absolute path of the workspace, without . and .. and empty steps, or leave meta.workspace out.",
    check: ({ meta: { workspace } }, tell) => {
      if (workspace === undefined) return;
      if (typeof workspace !== "string" || !isSanitizedPath(workspace))
        tell("/meta/workspace", `meta.workspace is ${shown(workspace)}.`);
    },
  },
  {
    id: "meta.types",
    levels: ["spec"],
    source:
      "protocol-v1.txt, meta: the types of job_id, trace_id, skill_version, cache_key, profiles and final",
    remedy: "Give the member the type that the table has for it, or leave it out.",
    check: ({ meta }, tell) => {
      for (const name of META_TEXTS) optionalText(`/meta/${name}`, meta[name], tell);
      const { profiles, final, cas_digest } = meta;
      if (cas_digest !== undefined && !isDigest(cas_digest))
        tell("/meta/cas_digest", `meta.cas_digest is ${shown(cas_digest)}, no digest.`);
      if (
        profiles !== undefined &&
        !(Array.isArray(profiles) && profiles.every((name) => typeof name === "string"))
      )
        tell("/meta/profiles", `meta.profiles is ${shown(profiles)}, not a list of names.`);
      if (final !== undefined && typeof final !== "boolean")
        tell("/meta/final", `meta.final is ${shown(final)}, neither true nor false.`);
    },
  },
  {
    id: "meta.seq",
    levels: ["spec"],
    source: "protocol-v1.txt, Status rules: progress includes meta.seq, an integer from 0",
    remedy: "Number progress in meta.seq from 0.",
    check: ({ status, meta: { seq } }, tell) => {
      if (seq === undefined ? status === "progress" : !isCount(seq))
        tell("/meta/seq", `meta.seq is ${shown(seq)}.`);
    },
  },
  {
    id: "meta.final",
    levels: ["spec"],
    source: "protocol-v1.txt, meta: final marks the last progress event",
    remedy: "Leave meta.final out of the ok or error line.",
    check: ({ status, meta: { final } }, tell) => {
      if ((status === "ok" || status === "error") && final === true)
        tell("/meta/final", `meta.final is true and status is ${status}.`);
    },
  },
  {
    id: "error.null",
    levels: ["spec"],
    source: "protocol-v1.txt, error: present even for ok status, but with null values",
    remedy: 'Write "error":{"code":null,"message":null}, or the status error.',
    check: ({ envelope, status, error }, tell) => {
      if ((status !== "ok" && status !== "progress") || !isObject(envelope.error)) return;
      for (const name of ["code", "message"] as const)
        if (error[name] !== null)
          tell(`/error/${name}`, `status is ${status} and error.${name} is ${shown(error[name])}, not null.`);
    },
  },
  {
    id: "error.catalog",
    levels: ["spec"],
    source: "protocol-v1.txt, Error catalog: all client-visible errors use standardized codes",
    remedy: "Use the nearest of the fifteen codes, and put your own in error.details.",
    check: ({ status, error: { code } }, tell) => {
      if (status === "error" && typeof code === "string" && code !== "" && !isCatalogued(code))
        tell("/error/code", `error.code is ${shown(code)}, which is not in the catalogue.`);
    },
  },
  {
    id: "error.details",
    levels: ["spec"],
    source:
      "protocol-v1.txt, error: details is an object; Retry transparency: details.attempts is a number of attempts",
    remedy: "Write error.details as an object, its attempts as a whole number.",
    check: ({ error: { details } }, tell) => {
      if (details === undefined) return;
      if (!isObject(details)) tell("/error/details", `error.details is ${shown(details)}, not an object.`);
      else if (details.attempts !== undefined && !isCount(details.attempts))
        tell("/error/details/attempts", `error.details.attempts is ${shown(details.attempts)}.`);
    },
  },
  {
    id: "data.artifact",
    levels: ["spec"],
    source:
      "protocol-v1.txt, Artifactization: the envelope returns a digest, sha256:…; notes 2.1: 64 lower-case hex digits",
    remedy: "Write data.artifact as sha256: and 64 lower-case hex digits.",
    check: ({ data: { artifact } }, tell) => {
      if (artifact !== undefined && artifact !== null && !isDigest(artifact))
        tell("/data/artifact", `data.artifact is ${shown(artifact)}.`);
    },
  },
  {
    id: "data.summary",
    levels: ["spec"],
    source:
      "protocol-v1.txt, Summary requirements: every artifactized summary MUST include size_bytes, kind and preview",
    remedy:
      "Write data.summary with size_bytes (whole bytes), kind (text) and preview (an object, a list or a text).",
    check: ({ data: { artifact, summary } }, tell) => {
      if (artifact === undefined || artifact === null) return;
      if (!isObject(summary)) {
        tell("/data/summary", `data.artifact is set and data.summary is ${shown(summary)}.`);
        return;
      }
      const { size_bytes, kind, preview } = summary;
      if (!isCount(size_bytes))
        tell("/data/summary/size_bytes", `data.summary.size_bytes is ${shown(size_bytes)}.`);
      if (isBlank(kind)) tell("/data/summary/kind", `data.summary.kind is ${shown(kind)}.`);
      if (typeof preview !== "string" && (typeof preview !== "object" || preview === null))
        tell("/data/summary/preview", `data.summary.preview is ${shown(preview)}.`);
    },
  },
  {
    id: "data.preview",
    levels: ["spec"],
    source: "protocol-v1.txt, Preview bounds: keep previews under 1KB",
    remedy: "Send fewer items in data.summary.preview.",
    check: ({ data: { artifact, summary } }, tell) => {
      if (artifact === undefined || artifact === null || !isObject(summary)) return;
      const bytes = jsonBytes(summary.preview);
      if (bytes >= PREVIEW_UNDER_BYTES)
        tell("/data/summary/preview", `The preview is ${bytes} bytes of JSON.`);
    },
  },
  {
    id: "data.pct",
    levels: ["spec"],
    source: "protocol-v1 notes 2.1: data.pct of progress is 0 to 100",
    remedy: "Write data.pct as a number from 0 to 100.",
    check: ({ status, data: { pct } }, tell) => {
      if (status === "progress" && pct !== undefined && !(typeof pct === "number" && pct >= 0 && pct <= 100))
        tell("/data/pct", `data.pct is ${shown(pct)}.`);
    },
  },
  {
    id: "secret",
    levels: ["spec"],
    source:
      "protocol-v1.txt, Security invariants: MUST redact secrets in data, meta and error messages as ***",
    remedy: "Write *** where the secret stands, and change the secret: it has been seen.",
    check: ({ envelope }, tell) => {
      for (const name of ["data", "meta", "error"])
        for (const pointer of secretsIn(envelope[name], [name]))
          tell(pointer, "It holds what looks like a secret.");
    },
  },
];
