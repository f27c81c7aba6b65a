/** Payloads as they cross, and the part of a task's result that another hub may see: no agent, no worker, no place. Pure. */
import { asObject, asString, type JsonObject } from "../../base/json.ts";
import { asHoldfastError } from "../../protocol/errors.ts";
import type { DataBoundary } from "../../protocol/peer-records.ts";
import { digestOf } from "../server/results.ts";
import { crossing } from "./boundary.ts";

/** The record of a payload: names, digest and size. */
export interface CrossedNames {
  readonly fields: string[];
  readonly stripped: string[];
  readonly digest: string;
  readonly bytes: number;
}

export interface CrossedAnswer {
  readonly status: "success" | "failed";
  readonly output: JsonObject;
  readonly crossed: CrossedNames;
}

/** Passes an object through the boundary. Fails with BOUNDARY_VIOLATION. */
export const crossedObject = (
  whole: JsonObject,
  boundary: DataBoundary,
): { readonly value: JsonObject; readonly crossed: CrossedNames } => {
  const { payload, fields, stripped, bytes } = crossing(whole, boundary);
  const crossed = { fields: [...fields], stripped: [...stripped], digest: digestOf(payload), bytes };
  return { value: payload as JsonObject, crossed };
};

/** An agent that answers with a JSON object answers with these members; any other text is the member `text`. */
const membersOf = (text: string): JsonObject => {
  try {
    return asObject(JSON.parse(text)) ?? { text };
  } catch {
    return { text };
  }
};

const failed = (code: string): CrossedAnswer => {
  const output = { error: { code } };
  const crossed = {
    fields: ["error"],
    stripped: [],
    digest: digestOf(output),
    bytes: JSON.stringify(output).length,
  };
  return { status: "failed", output, crossed };
};

/** A result that may not cross is a failure with the reason. */
export const answerOf = ({ status, output: whole }: JsonObject, boundary: DataBoundary): CrossedAnswer => {
  const { text, error } = asObject(whole) ?? {};
  if (status !== "success") return failed(asString(asObject(error)?.code) ?? "WORKER_FAILED");
  try {
    const { value: output, crossed } = crossedObject(membersOf(asString(text) ?? ""), boundary);
    return { status: "success", output, crossed };
  } catch (cause) {
    return failed(asHoldfastError(cause).code);
  }
};
