/**
 * Finds skills. The first place wins: the built-in ones, whose names are reserved; `skills` of the state directory; the
 * directories of config.yaml, in their order; `.holdfast/skills` of the workspace. Each skill is a folder with a `skill.yaml`
 * or a SKILL.md.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { readRegular } from "../base/files/regular-file.ts";
import { SKILL_FILE_MAX_BYTES, SKILL_FOLDERS_MAX } from "../base/limits.ts";
import { nearest } from "../base/suggest.ts";
import { sha256Digest } from "../protocol/canonical-json.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { RESERVED } from "../protocol/profiles.ts";
import { type ManifestReading, readManifest, readSkillFile, SkillManifest } from "./manifest.ts";
import type { BuiltinSkill, SkillEffect } from "./skill.ts";

export type SkillOrigin = "built_in" | "state" | "configured" | "project";

export interface FoundSkill {
  readonly name: string;
  readonly summary: string;
  readonly origin: SkillOrigin;
  /** Absolute; null for a built-in skill. */
  readonly folder: string | null;
  /** Digest of the manifest's text: a run is of the manifest that was allowed. */
  readonly digest: string;
  /** Null: a SKILL.md of instructions, or one with mistakes. */
  readonly manifest: SkillManifest | null;
  /** The URLs that an input names, of a built-in skill whose hosts come from its input. */
  readonly urls: BuiltinSkill<unknown, unknown>["urls"];
  readonly effect: SkillEffect;
  /** A JSON Schema of its input. */
  inputSchema(): z.core.JSONSchema.BaseSchema;
  /** One sentence for each mistake of its manifest. */
  readonly problems: readonly string[];
}

/** Files that make a folder a skill; the first that is there counts. */
const READERS: readonly (readonly [string, (text: string) => ManifestReading])[] = [
  ["skill.yaml", readManifest],
  ["SKILL.md", readSkillFile],
];

const isReserved = (name: string): boolean => Object.values(RESERVED).flat().includes(name);

/** Undefined where the folder has neither file. */
export const readFolder = (folder: string, origin: SkillOrigin): FoundSkill | undefined => {
  for (const [file, read] of READERS) {
    const text = textOf(join(folder, file));
    if (text === undefined) continue;
    const digest = sha256Digest(text);
    const name = folder.slice(folder.lastIndexOf("/") + 1);
    const nameless = {
      name,
      summary: "",
      origin,
      folder,
      digest,
      urls: undefined,
      effect: "any" as const,
      inputSchema: () => ({ type: "object" as const }),
    };
    if (text === TOO_LARGE)
      return { ...nameless, manifest: null, problems: [`${file} is over ${SKILL_FILE_MAX_BYTES} bytes`] };
    const reading = read(text);
    if ("problems" in reading)
      return { ...nameless, manifest: null, problems: reading.problems.map((one) => `${file}: ${one}`) };
    if ("instructions" in reading)
      return { ...nameless, ...reading.instructions, manifest: null, problems: [] };
    const { manifest } = reading;
    const problems = isReserved(manifest.name)
      ? [`${file}: name: ${manifest.name} is reserved for a built-in skill`]
      : [];
    const { summary } = manifest;
    return {
      ...nameless,
      name: manifest.name,
      summary,
      manifest: problems.length > 0 ? null : manifest,
      effect: manifest.effect,
      inputSchema: () => manifest.input_schema,
      problems,
    };
  }
  return undefined;
};

const TOO_LARGE = "\0";

/** A link is not followed: what is in a workspace may be anybody's. */
const textOf = (path: string): string | undefined => {
  try {
    const bytes = readRegular(path, SKILL_FILE_MAX_BYTES + 1);
    return bytes !== undefined && bytes.length > SKILL_FILE_MAX_BYTES ? TOO_LARGE : bytes?.toString("utf8");
  } catch {
    return undefined;
  }
};

const foldersIn = (directory: string): readonly string[] => {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .sort()
      .slice(0, SKILL_FOLDERS_MAX)
      .map((name) => join(directory, name));
  } catch {
    return [];
  }
};

/** A built-in skill reads the workspace, and has a state of its own. */
const ofBuiltin = ({
  name,
  summary,
  version,
  urls,
  effect,
  input,
}: BuiltinSkill<unknown, unknown>): FoundSkill => ({
  name,
  summary,
  origin: "built_in",
  folder: null,
  digest: sha256Digest(`${name} ${version}`),
  manifest: SkillManifest.parse({ name, summary, version, run: [name], capabilities: { state: true } }),
  urls,
  effect,
  inputSchema: () => z.toJSONSchema(input, { io: "input", unrepresentable: "any" }),
  problems: [],
});

export interface Places {
  readonly stateDir: string;
  /** Absolute, of config.yaml. */
  readonly directories: readonly string[];
  readonly builtins: readonly BuiltinSkill<unknown, unknown>[];
}

/** All skills of a workspace. One whose name was seen before is left out. */
export const findSkills = (places: Places, workspace: string): readonly FoundSkill[] => {
  const { stateDir, directories, builtins } = places;
  const in_order = [
    ...foldersIn(join(stateDir, "skills")).map((folder) => ["state", folder] as const),
    ...directories.flatMap(foldersIn).map((folder) => ["configured", folder] as const),
    ...foldersIn(join(workspace, ".holdfast", "skills")).map((folder) => ["project", folder] as const),
  ];
  const found = new Map(builtins.map((builtin) => [builtin.name, ofBuiltin(builtin)]));
  for (const [origin, folder] of in_order) {
    const skill = readFolder(folder, origin);
    if (skill !== undefined && !found.has(skill.name)) found.set(skill.name, skill);
  }
  return [...found.values()];
};

/** Fails with SKILL_NOT_FOUND. */
export const findSkill = (places: Places, workspace: string, name: string): FoundSkill => {
  const all = findSkills(places, workspace);
  const skill = all.find((one) => one.name === name);
  if (skill !== undefined) return skill;
  const near = nearest(
    name,
    all.map((one) => one.name),
  );
  throw new HoldfastError("SKILL_NOT_FOUND", `There is no skill ${name} here.`, {
    details: { skill: name, workspace },
    ...(near !== undefined && { suggestion: `Did you mean ${near}? List them with: agent skills list` }),
  });
};
