/** Rules that only the originals have, or that differ from the document's (notes 2.1). */

import { isObject, isWireTime } from "../forms.ts";
import { type EnvelopeRule, isBlank, isUnset, shown } from "./envelope-rule.ts";
import { META_WIRE_TYPES, type WireType } from "./fields.ts";

const isOfType: Readonly<Record<WireType, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  strings: (value) =>
    Array.isArray(value) && value.every((item) => item === null || typeof item === "string"),
  object: isObject,
};

/** A number, or its text. */
const statusCode = (value: unknown): number | undefined => {
  if (typeof value === "number") return value;
  return typeof value === "string" && /^\d+$/.test(value) ? Number(value) : undefined;
};

export const WIRE_RULES: readonly EnvelopeRule[] = [
  {
    id: "wire.types",
    levels: ["wire"],
    source: "protocol-v1 notes 2.1: what the originals decode an envelope into; null is as good as missing",
    remedy: "Give the member the type that it has in the document.",
    check: ({ envelope, meta, error }, tell) => {
      const expect = (pointer: string, type: WireType, value: unknown): void => {
        if (value !== undefined && value !== null && !isOfType[type](value))
          tell(pointer, `${pointer.slice(1).replace("/", ".")} is ${shown(value)}, not of type ${type}.`);
      };
      expect("/version", "integer", envelope.version);
      expect("/status", "string", envelope.status);
      expect("/command", "string", envelope.command);
      expect("/meta", "object", envelope.meta);
      expect("/error", "object", envelope.error);
      expect("/error/code", "string", error.code);
      expect("/error/message", "string", error.message);
      for (const [name, type] of Object.entries(META_WIRE_TYPES)) expect(`/meta/${name}`, type, meta[name]);
    },
  },
  {
    id: "wire.ts",
    levels: ["wire"],
    source: "protocol-v1 notes 2.1: meta.ts is there, in RFC 3339 and in UTC, with Z",
    remedy: "Write meta.ts like 2026-05-12T00:00:00Z, in UTC with a Z.",
    check: ({ meta: { ts } }, tell) => {
      if (typeof ts !== "string" || !isWireTime(ts)) tell("/meta/ts", `meta.ts is ${shown(ts)}.`);
    },
  },
  {
    id: "wire.command",
    levels: ["wire"],
    source: "protocol-v1 notes 2.1: command is not blank; dots and underscores pass",
    remedy: "Write the command, namespace/verb.",
    check: ({ envelope }, tell) => {
      if (isBlank(envelope.command)) tell("/command", `command is ${shown(envelope.command)}.`);
    },
  },
  {
    id: "wire.error",
    levels: ["wire"],
    source: "protocol-v1 notes 2.1: error.code and error.message are empty for ok; {} passes",
    remedy: "Leave error.code and error.message out, or write the status error.",
    check: ({ status, error }, tell) => {
      if (status !== "ok" && status !== "progress") return;
      for (const name of ["code", "message"] as const)
        if (!isUnset(error[name]))
          tell(`/error/${name}`, `status is ${status} and error.${name} is ${shown(error[name])}.`);
    },
  },
  {
    id: "wire.artifact",
    levels: ["wire"],
    source: "protocol-v1 notes 2.1: data.artifact, where it is text, begins with sha256:",
    remedy: "Write data.artifact as sha256: and 64 hex digits.",
    check: ({ data: { artifact } }, tell) => {
      if (typeof artifact === "string" && artifact !== "" && !artifact.startsWith("sha256:"))
        tell("/data/artifact", `data.artifact is ${shown(artifact)}.`);
    },
  },
  {
    id: "wire.memory",
    levels: ["wire"],
    source: "protocol-v1 notes 2.1: source memory needs memory.name and memory.type",
    remedy: "Write meta.memory with its name and type, or another meta.source.",
    check: ({ meta }, tell) => {
      if (meta.source !== "memory") return;
      const memory = isObject(meta.memory) ? meta.memory : {};
      for (const name of ["name", "type"])
        if (isUnset(memory[name]))
          tell(`/meta/memory/${name}`, `meta.source is memory and meta.memory.${name} is not set.`);
    },
  },
  {
    id: "wire.status_code",
    levels: ["wire"],
    source: "protocol-v1 notes 2.1: data.summary.status_code of an error is 400 to 599",
    remedy: "Write the HTTP status of the failure, or leave data.summary.status_code out.",
    check: ({ status, data }, tell) => {
      if (status !== "error" || !isObject(data.summary)) return;
      const code = statusCode(data.summary.status_code);
      if (code !== undefined && (code < 400 || code > 599))
        tell("/data/summary/status_code", `status is error and data.summary.status_code is ${code}.`);
    },
  },
];
