/** The configuration of a daemon, `config.yaml` in its state directory: what users add and allow. Every part is optional. */
import * as z from "zod";
import { ALL_HOSTS, LOCAL_HOST, parseHost } from "../base/host-address.ts";
import { parseAddress } from "../base/http-address.ts";
import {
  BRIDGE_COMMAND_MAX_WORDS,
  HOST_NAME_MAX_CHARS,
  HOSTS_MAX,
  HTTP_HOSTS_MAX,
  RUNTIME_NAME_MAX_CHARS,
  SKILL_DIRECTORIES_MAX,
  SKILL_HOSTS_MAX,
  SKILL_LIST_MAX,
  SOCKET_PATH_MAX_BYTES,
  USER_ADAPTERS_MAX,
  USER_RUNTIMES_MAX,
} from "../base/limits.ts";
import { AgentKind } from "./agent-event.ts";
import { type DefaultName, type DefaultValue, readDefault } from "./defaults.ts";
import { FederationConfiguration, federationKeys } from "./federation-configuration.ts";
import { McpServers } from "./mcp-servers.ts";
import { Notifications, notificationKeys } from "./notifications.ts";
import { ProviderConfiguration, Providers } from "./providers.ts";
import { Role, Roles } from "./roles.ts";
import { SkillHost } from "./skill-requests.ts";
import { NAME_FORM } from "./spec-fields.ts";
import { TelemetryConfiguration } from "./telemetry.ts";
import { PROFILE_NAMES, type ProfileName, RUNTIME_DEFAULT } from "./words.ts";

const absolute = (what: string) => z.string().regex(/^\//, `${what} is an absolute path`);

const UserAdapter = z.strictObject({
  module: absolute("a module"),
  kind: AgentKind.optional(),
  options: z.json().optional(),
});

/** A program behind a socket that executes workers (docs/how-to/bridge.md). */
export const BridgeConfiguration = z.strictObject({
  socket: absolute("a socket").refine(
    (path) => Buffer.byteLength(path) <= SOCKET_PATH_MAX_BYTES,
    `the path of a socket has at most ${SOCKET_PATH_MAX_BYTES} bytes`,
  ),
  /** Starts the bridge where nothing answers at the socket: a program and its arguments. */
  command: z.array(z.string().min(1)).min(1).max(BRIDGE_COMMAND_MAX_WORDS).optional(),
  /** The abilities of its runs. */
  abilities: z
    .array(z.enum(["pause"]))
    .max(1)
    .default([]),
});
export type BridgeConfiguration = z.output<typeof BridgeConfiguration>;

const UserRuntime = z
  .strictObject({
    module: absolute("a module").optional(),
    options: z.json().optional(),
    bridge: BridgeConfiguration.optional(),
  })
  .refine(
    ({ module, options, bridge }) =>
      (module === undefined) !== (bridge === undefined) && !(bridge && options),
    "a runtime is either a module, perhaps with options, or a bridge",
  );

/** Runtimes by name. The built-in one cannot be replaced. */
export const runtimesBy = <V extends z.ZodType>(runtime: V) =>
  z
    .record(
      z
        .string()
        .max(RUNTIME_NAME_MAX_CHARS)
        .regex(NAME_FORM, "a runtime's name has letters, digits, '.', '_' and '-'")
        .refine((name) => name !== RUNTIME_DEFAULT, `${RUNTIME_DEFAULT} is the built-in runtime`),
      runtime,
    )
    .refine(
      (all) => Object.keys(all).length <= USER_RUNTIMES_MAX,
      `there are at most ${USER_RUNTIMES_MAX} runtimes`,
    );

/** Addresses of other hosts by the names that `agent --host` takes (docs/how-to/other-hosts.md). */
const Hosts = z
  .record(
    z
      .string()
      .max(HOST_NAME_MAX_CHARS)
      .regex(NAME_FORM, "a host's name has letters, digits, '.', '_' and '-'")
      .refine(
        (name) => name !== LOCAL_HOST && name !== ALL_HOSTS,
        `"${LOCAL_HOST}" is this machine and "${ALL_HOSTS}" is every host; give it another name`,
      ),
    z
      .string()
      .refine(
        (host) => parseHost(host) !== undefined,
        "it is neither ssh://[USER@]MACHINE[:PORT] nor exec:PROGRAM ARGUMENT…",
      ),
  )
  .refine((all) => Object.keys(all).length <= HOSTS_MAX, `there are at most ${HOSTS_MAX} hosts`);

const defaultOf = (name: DefaultName) =>
  z
    .custom<DefaultValue>()
    .superRefine((given, { addIssue }) => {
      const read = readDefault(name, given);
      if (!read.ok) addIssue(`it ${read.problem}`);
    })
    .optional();

/** Defaults of spawn. The client reads them (src/cli/defaults); the daemon only judges their form. */
const Defaults = z.strictObject({
  model: defaultOf("model"),
  permission: defaultOf("permission"),
  sandbox: defaultOf("sandbox"),
  worktree: defaultOf("worktree"),
  timeout: defaultOf("timeout"),
} satisfies Record<DefaultName, z.ZodType>);

const OfKind = Defaults.extend({
  allow_external_sandbox_exec: z.boolean().optional(),
  allow_mcp_write: z.boolean().optional(),
});

const SkillName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]*\/([a-z0-9][a-z0-9-]*|\*)$/, "a skill is NAMESPACE/VERB or NAMESPACE/*");
const SkillList = z.array(SkillName).max(SKILL_LIST_MAX).optional();

const Skills = z.strictObject({
  /** Directories whose folders are skills. */
  directories: z.array(absolute("a directory")).max(SKILL_DIRECTORIES_MAX).default([]),
  /** The skills that agents of a profile may run, in the place of the profile's own list. An empty list allows nothing. */
  profiles: z
    .strictObject(
      Object.fromEntries(PROFILE_NAMES.map((name) => [name, SkillList])) as Record<
        ProfileName,
        typeof SkillList
      >,
    )
    .default({}),
  /** Hosts, as HOST:PORT or *.DOMAIN:PORT, to which skills that agents run may connect. */
  hosts: z.array(SkillHost).max(SKILL_HOSTS_MAX).default([]),
});
export type SkillConfiguration = z.infer<typeof Skills>;

const Http = z.strictObject({
  /** `[HOST:]PORT`, as `agent daemon start --http` takes it. */
  listen: z
    .union([z.string(), z.int().transform(String)])
    .refine((text) => parseAddress(text) !== undefined, "it is no [HOST:]PORT with an IP address"),
  /** Names by which clients may reach it, as their Host header has them. */
  hosts: z
    .array(z.string().regex(/^[\w.-]+(:\d{1,5})?$/, "a host is NAME or NAME:PORT"))
    .max(HTTP_HOSTS_MAX)
    .default([]),
});

export const Configuration = z.strictObject({
  /** User adapters, loaded when the daemon starts. */
  adapters: z.array(UserAdapter).max(USER_ADAPTERS_MAX).default([]),
  /** The program of a kind, under the kind's full or short name. The kind's variable overrides it. */
  binaries: z.record(AgentKind, absolute("a program")).default({}),
  /** Defaults of `agent spawn` for every kind. */
  defaults: Defaults.default({}),
  /** The rights of a kind's agents, under its full or short name, and their defaults. A right that is not listed is off. */
  kinds: z.record(AgentKind, OfKind).default({}),
  /** Runtimes beside the built-in one, for `--runtime NAME`, made when the daemon starts. */
  runtimes: runtimesBy(UserRuntime).default({}),
  skills: Skills.prefault({}),
  /** Serves the control plane over HTTP. */
  http: Http.optional(),
  /** The places at which a person is told that an agent waits, and of other news. */
  notifications: Notifications.optional(),
  /** The collector that gets spans and metrics. */
  telemetry: TelemetryConfiguration.optional(),
  /** Providers of models for kind `llm`, beside anthropic and openai, or in their place. */
  providers: Providers.default({}),
  /** MCP servers that agents of kind `llm` may name. */
  mcp: McpServers.default({}),
  /** Other hosts, for the command; the daemon reads those of `notifications.hosts`. */
  hosts: Hosts.default({}),
  /** Terms of the hubs that are peers, or will be. */
  federation: FederationConfiguration.prefault({}),
  /** Roles of agents that others ask for (`agent spawn-many`), beside the built-in ones. */
  roles: Roles.default({}),
});
export type Configuration = z.infer<typeof Configuration>;

/** The known keys at this path of the configuration, for the report of an unknown key. */
export const configurationKeys = ([part, ...below]: readonly PropertyKey[]): readonly string[] => {
  if (part === "notifications") return notificationKeys(below);
  if (part === "federation") return federationKeys(below);
  return Object.keys(
    (typeof part === "string" && Object.hasOwn(PARTS, part) ? PARTS[part]! : Configuration).shape,
  );
};
const PARTS: Readonly<Record<string, z.ZodObject>> = {
  adapters: UserAdapter,
  defaults: Defaults,
  kinds: OfKind,
  runtimes: UserRuntime,
  skills: Skills,
  http: Http,
  telemetry: TelemetryConfiguration,
  providers: ProviderConfiguration,
  roles: Role,
};

export const NO_CONFIGURATION: Configuration = Configuration.parse({});
