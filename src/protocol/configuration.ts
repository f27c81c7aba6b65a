/** The configuration of a daemon, `config.yaml` in its state directory: what users add and allow. Every part is optional. */
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
  /** User adapters, loaded when the daemon starts. */
  adapters: z.array(UserAdapter).max(USER_ADAPTERS_MAX).default([]),
  /** The program of a kind, under the kind's full or short name. The kind's variable overrides it. */
  binaries: z.record(AgentKind, absolute("a program")).default({}),
  /** The rights of a kind's agents, under its full or short name. Everything that is not listed is off. */
  kinds: z.record(AgentKind, Allowed).default({}),
});
export type Configuration = z.infer<typeof Configuration>;

/** The known keys at this path of the configuration, for the report of an unknown key. */
export const configurationKeys = ([part]: readonly PropertyKey[]): readonly string[] =>
  Object.keys((part === "adapters" ? UserAdapter : part === "kinds" ? Allowed : Configuration).shape);

export const NO_CONFIGURATION: Configuration = { adapters: [], binaries: {}, kinds: {} };
