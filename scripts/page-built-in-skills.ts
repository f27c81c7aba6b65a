/** docs/reference/built-in-skills.md, from the schemas of the skills that are part of Holdfast. */
import * as z from "zod";
import { asList, asObject, asString, type JsonObject } from "../src/base/json.ts";
import { BUILTINS } from "../src/skills/builtin/index.ts";
import type { BuiltinSkill } from "../src/skills/skill.ts";
import { table } from "./markdown.ts";

const code = (value: unknown): string =>
  `\`${typeof value === "string" && value !== "" ? value : JSON.stringify(value)}\``;

const boundsOf = ({ minimum, maximum, maxLength, maxItems }: JsonObject): string => {
  const isBound = (bound: unknown): bound is number =>
    typeof bound === "number" && Math.abs(bound) < Number.MAX_SAFE_INTEGER;
  if (isBound(minimum) && isBound(maximum)) return ` ${minimum} to ${maximum}`;
  if (isBound(minimum)) return ` from ${minimum}`;
  const most = [maxLength, maxItems].find(isBound);
  return most === undefined ? "" : `, at most ${most}`;
};

const typeOf = (schema: JsonObject): string => {
  const words = asList(schema.enum);
  if (words.length > 0) return words.map(code).join(", ");
  if (schema.const !== undefined) return code(schema.const);
  const variants = asList(schema.oneOf ?? schema.anyOf);
  if (variants.length > 0) return "one of those below";
  return `${asString(schema.type) ?? "any value"}${boundsOf(schema)}`;
};

const fieldsOf = (schema: JsonObject): string => {
  const required = new Set(asList(schema.required));
  const rows = Object.entries(asObject(schema.properties) ?? {}).map(([name, member]) => {
    const field = asObject(member) ?? {};
    const standing = field.default !== undefined ? code(field.default) : required.has(name) ? "required" : "";
    return [code(name), typeOf(field), standing, asString(field.description) ?? ""];
  });
  return table(["field", "type", "default", "meaning"], rows);
};

/** The variants of a field that has several forms, by the word that tells them apart. */
const variantsOf = (name: string, field: JsonObject): string =>
  asList(field.oneOf ?? field.anyOf)
    .map((variant) => {
      const { properties, ...rest } = asObject(variant) ?? {};
      const members = Object.entries(asObject(properties) ?? {});
      const [[tag, word] = ["", {}], ...others] = members;
      const told = `\`${name}\` with ${code(tag)} ${typeOf(asObject(word) ?? {})}`;
      if (others.length === 0) return `${told} has no other fields.`;
      return `${told}:\n\n${fieldsOf({ ...rest, properties: Object.fromEntries(others) })}`;
    })
    .join("\n\n");

/** `shown` has the skill at which each text of variants stands. */
const sectionOf = (skill: BuiltinSkill<unknown, unknown>, shown: Map<string, string>): string => {
  const input = z.toJSONSchema(skill.input, { io: "input" }) as JsonObject;
  const several = Object.entries(asObject(input.properties) ?? {})
    .map(([name, member]) => [name, variantsOf(name, asObject(member) ?? {})] as const)
    .filter(([, text]) => text !== "")
    .map(([name, text]) => {
      const first = shown.get(text) ?? skill.name;
      shown.set(text, first);
      return first === skill.name ? text : `The forms of ${code(name)} are those of ${first}.`;
    });
  const network = skill.network === "none" ? "It has no network." : "It uses the network.";
  const answer = Object.keys((z.toJSONSchema(skill.output) as { properties?: object }).properties ?? {});
  return [
    `## ${skill.name}`,
    `${skill.summary} Version ${skill.version}. ${network}`,
    fieldsOf(input),
    ...several,
    `Its answer has ${answer.map(code).join(", ")}.`,
  ].join("\n\n");
};

const sections = (): string => {
  const shown = new Map<string, string>();
  return BUILTINS.map((skill) => sectionOf(skill, shown)).join("\n\n");
};

export const builtInSkillsPage = (): string => `# Built-in skills

Skills that are part of Holdfast, with the fields of their input. Generated from \`src/skills/builtin\` by \`npm run docs\`.

Each file is looked for in the workspace alone: a \`..\`, a link that leads out and an absolute path elsewhere are refused with \`POLICY_VIOLATION\`, and \`details.rule\` names the
rule ([0048](../decisions/0048-built-in-skills.md)).
Secrets are named and never given: the skill reads them where its run has them, and masks them in its answer and in its errors.

${sections()}
`;
