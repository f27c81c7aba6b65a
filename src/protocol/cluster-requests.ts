/** The requests of clusters, as zod schemas. */
import * as z from "zod";
import { ENDPOINT_FORM, parseHost } from "../base/host-address.ts";
import {
  CLUSTER_CAPACITY_DEFAULT,
  CLUSTER_CAPACITY_MAX,
  CLUSTER_COPY_KEEP_MAX_DAYS,
  CLUSTER_ELSEWHERE_MAX,
  CLUSTER_LABELS_MAX,
  NAME_MAX_BYTES,
  READ_PAGE_RECORDS,
  URL_MAX_CHARS,
} from "../base/limits.ts";
import { isTellable, NOT_TELLABLE } from "./redact.ts";
import { AskedSearch } from "./search-request.ts";

/** The address of the database, or `@file:/PATH` of a file that has it. Never shown again: it may have a password. */
const database = z.string().min(1).max(URL_MAX_CHARS);
const word = z
  .string()
  .max(NAME_MAX_BYTES)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "has letters, digits, '.', '_' and '-'")
  .refine(isTellable, NOT_TELLABLE);

export const CLUSTER_REQUESTS = {
  /** Makes the tables of a cluster, or brings them up to date. */
  "cluster/init": z.strictObject({
    database,
    /** Days of the copy that are kept, 0 for all of them. Without it they are as before; those of a new cluster have a default. */
    keep_days: z.int().min(0).max(CLUSTER_COPY_KEEP_MAX_DAYS).optional(),
  }),
  /** Makes this daemon a node, from now on and over restarts. */
  "cluster/join": z.strictObject({
    database,
    /** Default: the name of the machine. */
    name: word.optional(),
    labels: z
      .record(word, word)
      .refine(
        (labels) => Object.keys(labels).length <= CLUSTER_LABELS_MAX,
        `are at most ${CLUSTER_LABELS_MAX} labels`,
      )
      .default({}),
    /** How others reach this machine, as `--host` takes it. Every node and its users see it. */
    endpoint: z
      .string()
      .max(URL_MAX_CHARS)
      .refine((text) => parseHost(text) !== undefined, `is ${ENDPOINT_FORM}`)
      .refine(isTellable, NOT_TELLABLE)
      .optional(),
    /** Workers that it takes. */
    capacity: z.int().min(1).max(CLUSTER_CAPACITY_MAX).default(CLUSTER_CAPACITY_DEFAULT),
  }),
  /** With a node: the machine of that dead node is gone, and all its workers may be placed anew. */
  "cluster/leave": z.strictObject({ gone: word.optional() }),
  /** A node takes no further workers, and its own move to others. */
  "cluster/drain": z.strictObject({
    node: word,
    undo: z.boolean().default(false),
    dry_run: z.boolean().default(false),
  }),
  "cluster/status": z.strictObject({}),
  /** Placed workers that other nodes run, or none does, as the placements and the copy have them: also those of lost machines. */
  "cluster/workers": z.strictObject({
    /** One alone, wherever it runs: its name, or its id in the log of its node. */
    worker: z.string().min(1).max(NAME_MAX_BYTES).optional(),
    /** Also those that have ended. */
    all: z.boolean().default(false),
    /** It has each of these labels with this value. */
    labels: z.record(z.string(), z.string()).optional(),
    kinds: z.array(z.string().min(1)).optional(),
    /** Only those of this tree. */
    tree: z.string().min(1).optional(),
    /** The `next` of the page before. */
    after: z.string().max(NAME_MAX_BYTES).default(""),
    limit: z.int().min(1).max(CLUSTER_ELSEWHERE_MAX).default(CLUSTER_ELSEWHERE_MAX),
  }),
  /** Records of a placed worker as the cluster's copy has them, wherever it runs, and also where its machine is lost. */
  "cluster/records": z.strictObject({
    /** Its name, or its id in the log of its node. */
    worker: z.string().min(1).max(NAME_MAX_BYTES),
    /** Those of its newest node, or of each node on which it has run, in order. */
    runs: z.enum(["newest", "all"]).default("newest"),
    /** With all runs: only those after the run of this id. */
    past: z.string().min(1).max(NAME_MAX_BYTES).optional(),
    /** With all runs: also those of the workers that its agents spawned. */
    subtree: z.boolean().default(false),
    /** The `next` or the `place` of the page before. */
    after: z.int().min(0).default(0),
    /** Only the newest ones, as one page. */
    tail: z.int().min(1).max(READ_PAGE_RECORDS).optional(),
  }),
  /** Records of placed workers by their words, from the copies of other nodes' logs, newest first. */
  "cluster/search": AskedSearch,
} as const;
