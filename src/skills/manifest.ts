/**
 * The manifest of a user's skill: `skill.yaml`, or the key `holdfast` in the front matter of a SKILL.md. Pure: text in,
 * manifest or mistakes out. A skill gets only what its manifest names (protocol-v1.txt, Security invariants).
 */
import { parseDocument } from "yaml";
import * as z from "zod";
import { VARIABLE_NAME } from "../base/environment.ts";
import {
  SKILL_ARGS_MAX,
  SKILL_HOSTS_MAX,
  SKILL_IMAGE_MAX_CHARS,
  SKILL_MEMORY_DEFAULT_MB,
  SKILL_MEMORY_MAX_MB,
  SKILL_SECRETS_MAX,
  SKILL_SUMMARY_MAX_CHARS,
  SKILL_TIMEOUT_DEFAULT_MS,
  SKILL_TIMEOUT_MAX_MS,
} from "../base/limits.ts";
import { COMMAND_FORM } from "../protocol/forms.ts";
import { SkillHost } from "../protocol/skill-requests.ts";
import { SKILL_EFFECTS, type SkillEffect } from "./skill.ts";

/** protocol-v1.txt, meta: runner. */
const Runner = z.enum(["exec", "wasi", "oci"]);
export type Runner = z.infer<typeof Runner>;

const Hosts = z.array(SkillHost).min(1).max(SKILL_HOSTS_MAX);

const word = z
  .string()
  .min(1)
  .max(4_096)
  .refine((text) => !text.includes("\0"), "it has a NUL character");

const Capabilities = z.strictObject({
  /** `none`, or the hosts that it may connect to, through the proxy alone. */
  network: z.union([z.literal("none"), Hosts]).default("none"),
  /** Its view of the workspace: nothing, everything read-only, or everything. */
  files: z.enum(["none", "read", "write"]).default("read"),
  /** Names of the caller's variables that it gets. Their values are masked in its answer. */
  secrets: z
    .array(z.string().regex(VARIABLE_NAME, "it is no name of a variable"))
    .max(SKILL_SECRETS_MAX)
    .default([]),
  /** A private directory of this skill and workspace that lasts from run to run: $HOLDFAST_SKILL_STATE. */
  state: z.boolean().default(false),
});

const Limits = z.strictObject({
  timeout_ms: z.int().min(1).max(SKILL_TIMEOUT_MAX_MS).default(SKILL_TIMEOUT_DEFAULT_MS),
  /** For each of its processes. */
  memory_mb: z.int().min(16).max(SKILL_MEMORY_MAX_MB).default(SKILL_MEMORY_DEFAULT_MB),
});

/** protocol-v1.txt, Security invariants: WASI skills MUST NOT have network access. */
const isOffline = ({
  runner,
  capabilities,
}: {
  runner: Runner;
  capabilities: { network: unknown };
}): boolean => runner !== "wasi" || capabilities.network === "none";

const isModule = ({ runner, run }: { runner: Runner; run: readonly string[] }): boolean =>
  runner !== "wasi" || run[0]?.endsWith(".wasm") === true;

/** A name with a tag or a digest, or the id of an image. */
const IMAGE_FORM = /^[a-z0-9][a-z0-9._:/-]*(?::[A-Za-z0-9_][A-Za-z0-9._-]*)?(?:@sha256:[0-9a-f]{64})?$/;

const hasImage = ({ runner, image }: { runner: Runner; image?: string | undefined }): boolean =>
  (runner === "oci") === (image !== undefined);

const changesNothing = ({
  effect,
  capabilities,
}: {
  effect: SkillEffect;
  capabilities: z.infer<typeof Capabilities>;
}): boolean =>
  effect !== "none" ||
  (capabilities.network === "none" && capabilities.files !== "write" && !capabilities.state);

/** Variables that podman and its libraries read themselves, before they give them on. */
const OF_PODMAN =
  /^(?:PATH|HOME|USER|TMPDIR|LANG|TZ|GO[A-Z]*|_?(?:LD|LC|XDG|DBUS|CONTAINERS?|PODMAN|BUILDAH|STORAGE|REGISTRY|DOCKER|NOTIFY|LISTEN|CRUN|LIBCRUN|RUNC|OCI)_.*|[A-Z]+_PROXY)$/i;

const isForContainer = ({
  runner,
  capabilities,
}: {
  runner: Runner;
  capabilities: { secrets: readonly string[] };
}): boolean => runner !== "oci" || !capabilities.secrets.some((name) => OF_PODMAN.test(name));

export const SkillManifest = z
  .strictObject({
    name: z.string().max(128).regex(COMMAND_FORM, "a name is NAMESPACE/VERB in a-z, 0-9 and hyphens"),
    version: z.string().min(1).max(64).default("0.0.0"),
    summary: z.string().min(1).max(SKILL_SUMMARY_MAX_CHARS),
    runner: Runner.default("exec"),
    /** The image of the runner oci. It has to be on the machine: nothing is pulled. */
    image: z
      .string()
      .max(SKILL_IMAGE_MAX_CHARS)
      .regex(IMAGE_FORM, "an image is NAME[:TAG][@sha256:DIGEST], or the id of one")
      .optional(),
    /**
     * The program and its arguments. One with a slash is in the skill's folder; any other is found on the PATH of the system.
     * With the runner oci both are the image's.
     */
    run: z.array(word).min(1).max(SKILL_ARGS_MAX),
    capabilities: Capabilities.prefault({}),
    limits: Limits.prefault({}),
    effect: z.enum(SKILL_EFFECTS).default("any"),
    /** A JSON Schema of its input, for models. Without one, a model may send any object. */
    input_schema: z.record(z.string(), z.json()).default({ type: "object" }),
  })
  .refine(changesNothing, {
    path: ["effect"],
    message: "a skill that may write files, keeps a state or has a network changes something",
  })
  .refine(({ input_schema }) => input_schema.type === "object", {
    path: ["input_schema"],
    message: "its type is object, as that of every input",
  })
  .refine(isOffline, {
    path: ["capabilities", "network"],
    message: "a skill with the runner wasi has no network",
  })
  .refine(isModule, { path: ["run"], message: "the runner wasi runs a .wasm file of the skill's folder" })
  .refine(hasImage, {
    path: ["image"],
    message: "the runner oci needs an image, and no other runner has one",
  })
  .refine(isForContainer, {
    path: ["capabilities", "secrets"],
    message: "podman reads a variable of this name itself, so a skill with the runner oci cannot have it",
  });
export type SkillManifest = z.infer<typeof SkillManifest>;

/** A manifest, or one sentence for each mistake. */
export type ManifestReading =
  | { readonly manifest: SkillManifest }
  /** A SKILL.md of instructions: it has nothing to run. */
  | { readonly instructions: { readonly name: string; readonly summary: string } }
  | { readonly problems: readonly string[] };

const problemsOf = (error: z.ZodError): readonly string[] =>
  error.issues.map(({ path, message }) => `${path.length === 0 ? "" : `${path.join(".")}: `}${message}`);

const yamlOf = (text: string): { readonly value: unknown } | { readonly problems: readonly string[] } => {
  const document = parseDocument(text);
  if (document.errors.length > 0)
    return { problems: document.errors.map(({ message }) => message.split("\n")[0]!.replace(/:$/, "")) };
  try {
    return { value: document.toJS({ maxAliasCount: 16 }) };
  } catch (cause) {
    return { problems: [(cause as Error).message] };
  }
};

const checked = (value: unknown): ManifestReading => {
  const parsed = SkillManifest.safeParse(value ?? {});
  return parsed.success ? { manifest: parsed.data } : { problems: problemsOf(parsed.error) };
};

/** The text of a `skill.yaml`. */
export const readManifest = (text: string): ManifestReading => {
  const read = yamlOf(text);
  return "problems" in read ? read : checked(read.value);
};

const FRONT_MATTER = /^---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;

/** Other keys belong to the readers of those instructions. */
const FrontMatter = z.object({
  name: z.string().regex(/^[a-z0-9][a-z0-9-]*$/, "the name of a SKILL.md is in a-z, 0-9 and hyphens"),
  description: z.string().min(1),
  holdfast: z.record(z.string(), z.unknown()).optional(),
});

/** Without a name of its own, a SKILL.md is in this namespace. */
const NAMESPACE = "skill";

/** The text of a SKILL.md. Its front matter has a name and a description, and under `holdfast` all else that a manifest has. */
export const readSkillFile = (text: string): ManifestReading => {
  const [, front] = FRONT_MATTER.exec(text.replace(/^\uFEFF/, "")) ?? [];
  if (front === undefined) return { problems: ["it has no front matter between two lines of ---"] };
  const read = yamlOf(front);
  if ("problems" in read) return read;
  const parsed = FrontMatter.safeParse(read.value);
  if (!parsed.success) return { problems: problemsOf(parsed.error) };
  const { name, description, holdfast } = parsed.data;
  const known = {
    name: `${NAMESPACE}/${name}`,
    summary: description.replaceAll(/\s+/g, " ").trim().slice(0, SKILL_SUMMARY_MAX_CHARS),
  };
  return holdfast === undefined ? { instructions: known } : checked({ ...known, ...holdfast });
};
