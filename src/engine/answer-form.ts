/** Checks a final answer against the JSON Schema that it must match. Only a run that has a schema loads this file. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { HoldfastError } from "../protocol/errors.ts";
import type { JsonValue } from "../protocol/records.ts";

const wrong = (why: string): string =>
  `Your answer is not what was asked for: ${why}. Answer again, with nothing but the JSON value.`;

/** Fails with INVALID_REQUEST if the schema itself is wrong. */
export const checkOf = (schema: JsonValue): ((text: string) => string | undefined) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  const matches = compiled(ajv, schema);
  return (text) => {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return wrong("it is not JSON");
    }
    if (matches(value)) return undefined;
    return wrong(ajv.errorsText(matches.errors, { dataVar: "the value", separator: "; " }));
  };
};

const compiled = (ajv: Ajv2020, schema: JsonValue) => {
  try {
    return ajv.compile(schema as object);
  } catch (cause) {
    throw new HoldfastError(
      "INVALID_REQUEST",
      `The schema of the answer is wrong: ${(cause as Error).message}.`,
      { cause },
    );
  }
};
