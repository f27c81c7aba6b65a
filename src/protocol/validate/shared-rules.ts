/** Rules of both levels: rules of protocol-v1.txt that the originals also check (notes 2.1). */
import { type EnvelopeRule, isBlank, isUnset, shown } from "./envelope-rule.ts";
import { STATUSES } from "./fields.ts";

export const SHARED_RULES: readonly EnvelopeRule[] = [
  {
    id: "version",
    levels: ["wire", "spec"],
    source: "protocol-v1.txt, version: MUST be 1",
    remedy: "Write version: 1, as a number.",
    check: ({ envelope }, tell) => {
      if (envelope.version !== 1) tell("/version", `version is ${shown(envelope.version)}, not 1.`);
    },
  },
  {
    id: "status",
    levels: ["wire", "spec"],
    source: "protocol-v1.txt, status: tri-state, ok, error or progress",
    remedy: 'Write status as "ok", "error" or "progress".',
    check: ({ status }, tell) => {
      if (!STATUSES.includes(status)) tell("/status", `status is ${shown(status)}.`);
    },
  },
  {
    id: "error.required",
    levels: ["wire", "spec"],
    source: "protocol-v1.txt, Status rules: error.code and error.message are required for error",
    remedy: "Give error.code a code of the catalogue and error.message a sentence.",
    check: ({ status, error }, tell) => {
      if (status !== "error") return;
      if (typeof error.code !== "string" || error.code === "")
        tell("/error/code", `status is error and error.code is ${shown(error.code)}.`);
      if (isBlank(error.message))
        tell("/error/message", `status is error and error.message is ${shown(error.message)}.`);
    },
  },
  {
    id: "meta.cas_digest",
    levels: ["wire", "spec"],
    source: "protocol-v1.txt, meta: cas_digest, if set, MUST match data.artifact",
    remedy: "Write the digest of data.artifact, or leave meta.cas_digest out.",
    check: ({ meta, data }, tell) => {
      if (!isUnset(meta.cas_digest) && meta.cas_digest !== data.artifact)
        tell(
          "/meta/cas_digest",
          `meta.cas_digest is ${shown(meta.cas_digest)} and data.artifact ${shown(data.artifact)}.`,
        );
    },
  },
  {
    id: "meta.cache_key",
    levels: ["wire", "spec"],
    source: "protocol-v1.txt, meta: cache_key is there on cache hits",
    remedy: "Write meta.cache_key, or another meta.source.",
    check: ({ meta }, tell) => {
      if (meta.source === "cache" && isUnset(meta.cache_key))
        tell("/meta/cache_key", "meta.source is cache and meta.cache_key is not set.");
    },
  },
];
