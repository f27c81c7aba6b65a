/** The configuration of a daemon, `config.yaml` in its state directory: what users add, and what they allow. All of it may be absent. */
import * as z from "zod";
import { USER_ADAPTERS_MAX } from "../base/limits.ts";
import { AgentKind } from "./agent-event.ts";

const absolute = (what: string) => z.string().regex(/^\//, `${what} is an absolute path`);

const UserAdapter = z.strictObject({
  module: absolute("a module"),
  kind: AgentKind.optional(),
  options: z.json().optional(),
});

const Allowed = z.strictObject({
  allow_external_sandbox_exec: z.boolean().optional(),
  allow_mcp_write: z.boolean().optional(),
});

export const Configuration = z.strictObject({
  /** Adapters of users, loaded when the daemon starts. */
  adapters: z.array(UserAdapter).max(USER_ADAPTERS_MAX).default([]),
  /** The program of a kind, by its name or a short one, where its variable names no other. */
  binaries: z.record(AgentKind, absolute("a program")).default({}),
  /** The rights of a kind, by its name or a short one; everything is off unless it is written. */
  kinds: z.record(AgentKind, Allowed).default({}),
});
export type Configuration = z.infer<typeof Configuration>;

/** The keys that there are at a path of it at which a key is wrong. */
export const configurationKeys = ([part]: readonly PropertyKey[]): readonly string[] =>
  Object.keys((part === "adapters" ? UserAdapter : part === "kinds" ? Allowed : Configuration).shape);

export const NO_CONFIGURATION: Configuration = { adapters: [], binaries: {}, kinds: {} };
