/** The published JSON Schemas (draft 2020-12), generated from the zod schemas, for `agent <command> --schema` and for the package. */
import * as z from "zod";
import { AgentEvent } from "./agent-event.ts";
import { AgentCompletion } from "./completion.ts";
import { EnvelopeV1, ResponseEnvelope, ResponseEnvelopeG2 } from "./envelope-schemas.ts";
import { LogGap } from "./log-gap.ts";
import { Requests } from "./requests.ts";
import { WorkerSpec } from "./worker.ts";

export type JsonSchema = z.core.JSONSchema.BaseSchema;

const CONTRACTS = {
  "agent-event": AgentEvent,
  "agent-completion": AgentCompletion,
  "envelope-v1": EnvelopeV1,
  "response-envelope": ResponseEnvelope,
  "log-gap": LogGap,
  "response-envelope-g2": ResponseEnvelopeG2,
  "worker-spec": WorkerSpec,
} as const;

/** The schema for writers of the value: a member with a default is optional. */
const schemaOf = (name: string, type: z.ZodType): JsonSchema => ({
  title: name,
  ...z.toJSONSchema(type, { target: "draft-2020-12", io: "input" }),
});

/** Every published schema by its name; a request's schema is named `namespace/verb`. */
export const jsonSchemas = (): Record<string, JsonSchema> => {
  const types: Record<string, z.ZodType> = { ...CONTRACTS, ...Requests };
  return Object.fromEntries(Object.entries(types).map(([name, type]) => [name, schemaOf(name, type)]));
};
