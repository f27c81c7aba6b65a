/** All canonical types by their names on the wire, and their JSON Schemas (draft 2020-12) as one document. */
import * as z from "zod";
import {
  AgentManifest,
  HealthStatus,
  RegisterRequest,
  RegisterResponse,
  ServiceDirectory,
  ServiceEntry,
} from "./agents.ts";
import { Capability, IOSpec } from "./parts.ts";
import {
  AgentMessage,
  AuditEntry,
  ChannelGrant,
  ChannelRequest,
  DeadLetterEntry,
  ErrorResponse,
  EventEnvelope,
  RouteEntry,
  Subscription,
} from "./talk.ts";
import {
  ApprovalRequest,
  ApprovalResponse,
  Finding,
  Observation,
  ProposedChange,
  Recommendation,
  TaskContext,
  TaskRequest,
  TaskResult,
} from "./tasks.ts";

export const WEBLISK_TYPES = {
  AgentManifest,
  AgentMessage,
  ApprovalRequest,
  ApprovalResponse,
  AuditEntry,
  Capability,
  ChannelGrant,
  ChannelRequest,
  DeadLetterEntry,
  ErrorResponse,
  EventEnvelope,
  Finding,
  HealthStatus,
  IOSpec,
  Observation,
  ProposedChange,
  Recommendation,
  RegisterRequest,
  RegisterResponse,
  RouteEntry,
  ServiceDirectory,
  ServiceEntry,
  Subscription,
  TaskContext,
  TaskRequest,
  TaskResult,
} as const;

/** `$defs` has each type by its name; a type refers to another one there. */
export const webliskSchemas = (): object => {
  const registry = z.registry<{ id: string }>();
  for (const [id, type] of Object.entries(WEBLISK_TYPES)) registry.add(type, { id });
  const { schemas } = z.toJSONSchema(registry, {
    target: "draft-2020-12",
    io: "input",
    uri: (id) => `#/$defs/${id}`,
  });
  const defs = Object.entries(schemas).map(([name, { $id, $schema, ...schema }]) => [name, schema]);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Weblisk canonical types",
    $defs: Object.fromEntries(defs),
  };
};
