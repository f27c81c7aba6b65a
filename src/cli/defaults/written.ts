/** Reads and changes the defaults of a config.yaml. Comments and all other parts of the file stay. Loads yaml. */
import { mkdirSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { type Document, isMap, parseDocument } from "yaml";
import { readNamed, readRegular, statAt } from "../../base/files/regular-file.ts";
import { replaceFile } from "../../base/files/replace-file.ts";
import { CONFIGURATION_MAX_BYTES } from "../../base/limits.ts";
import { kindOf } from "../../commands/kinds.ts";
import {
  DEFAULT_NAMES,
  type DefaultName,
  type DefaultValue,
  isDefaultName,
  keyOfDefault,
  readDefault,
} from "../../protocol/defaults.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { DefaultsRead, WrittenDefault } from "./resolve.ts";

export interface DefaultsFile {
  readonly path: string;
  readonly source: "repository" | "user";
}

/** A person's file may be a link; one that came with a repository is not followed. */
const bytesOf = ({ path, source }: DefaultsFile): Buffer | undefined =>
  source === "user"
    ? readNamed(path, CONFIGURATION_MAX_BYTES)
    : readRegular(path, CONFIGURATION_MAX_BYTES + 1);

/** Undefined if the file does not exist. Throws a sentence that names the file. */
const textOf = (file: DefaultsFile): string | undefined => {
  try {
    const bytes = bytesOf(file);
    if (bytes === undefined && file.source === "repository") {
      if (statAt(file.path) === undefined) return undefined;
      throw new Error("it is no regular file");
    }
    if (bytes === undefined || bytes.length > CONFIGURATION_MAX_BYTES)
      throw new Error(`it is over ${CONFIGURATION_MAX_BYTES} bytes`);
    return bytes.toString("utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new Error(`${file.path} cannot be read: ${(cause as Error).message}`, { cause });
  }
};

type Plain = Readonly<Record<string, unknown>>;
const isPlain = (value: unknown): value is Plain =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const firstLine = (text: string): string => text.split("\n")[0]!.replace(/:$/, "");

const plainOf = (text: string): unknown => {
  const document = parseDocument(text);
  if (document.errors.length > 0) throw new Error(firstLine(document.errors[0]!.message));
  // Aliases that expand without end are refused with an error.
  return document.toJS() ?? {};
};

/** A repository may write defaults and nothing else. Other parts of the user's file are the daemon's, which reports mistakes in them. */
class Reader {
  readonly written: WrittenDefault[] = [];
  readonly problems: string[] = [];
  private readonly file: DefaultsFile;

  constructor(file: DefaultsFile) {
    this.file = file;
  }

  all(plain: Plain): void {
    const { defaults, kinds, ...others } = plain;
    for (const key of Object.keys(others)) this.foreign(key);
    this.section(defaults, undefined);
    if (isPlain(kinds)) for (const [kind, own] of Object.entries(kinds)) this.section(own, kind);
  }

  private section(section: unknown, kind: string | undefined): void {
    if (section === undefined || section === null) return;
    const within = kind === undefined ? "defaults" : `kinds.${kind}`;
    if (!isPlain(section))
      return void this.problems.push(`${this.file.path}: ${within} holds keys and values`);
    for (const [name, given] of Object.entries(section))
      if (isDefaultName(name)) this.take(name, kind, given);
      else this.foreign(`${within}.${name}`);
  }

  private take(name: DefaultName, kind: string | undefined, given: unknown): void {
    const { source, path } = this.file;
    const read = readDefault(name, given);
    if (read.ok) this.written.push({ name, kind, value: read.value, source, from: path });
    else this.problems.push(`${path}: ${keyOfDefault(name, kind)} ${read.problem}`);
  }

  private foreign(key: string): void {
    if (this.file.source === "repository")
      this.problems.push(
        `${this.file.path}: a repository may not write ${key}; it may write ${DEFAULT_NAMES.join(", ")}, below defaults or kinds.KIND`,
      );
  }
}

/** Throws a sentence that names the file. */
const parseDefaults = (file: DefaultsFile, text: string): DefaultsRead => {
  const reader = new Reader(file);
  try {
    const plain = plainOf(text);
    if (isPlain(plain)) reader.all(plain);
    else throw new Error("it holds no keys and values");
  } catch (cause) {
    throw new Error(`${file.path} cannot be read: ${firstLine((cause as Error).message)}`, { cause });
  }
  return reader;
};

const readOne = (file: DefaultsFile): DefaultsRead => {
  try {
    return parseDefaults(file, textOf(file) ?? "");
  } catch (cause) {
    return { written: [], problems: [(cause as Error).message] };
  }
};

/** The defaults of files in the order of their precedence. A file that is gone has none. */
export const readDefaults = (files: readonly DefaultsFile[]): DefaultsRead => {
  const read = files.map(readOne);
  return {
    written: read.flatMap(({ written }) => written),
    problems: read.flatMap(({ problems }) => problems),
  };
};

/** A default that is to be written, or removed if it has no value. */
export interface DefaultChange {
  readonly name: DefaultName;
  readonly kind: string | undefined;
  readonly value?: DefaultValue;
  /** As it stands in the file; the value of a timeout is its text. */
  readonly text?: string | boolean;
}

/** The name under which the file already has this kind. */
const spelling = (document: Document, kind: string): string => {
  const kinds = document.get("kinds");
  const known = kindOf(kind)?.kind;
  const there = isMap(kinds) ? kinds.items.map(({ key }) => String(key)) : [];
  return there.find((one) => one === kind || (known !== undefined && kindOf(one)?.kind === known)) ?? kind;
};

const pathOf = (document: Document, { name, kind }: DefaultChange): readonly string[] =>
  kind === undefined ? ["defaults", name] : ["kinds", spelling(document, kind), name];

const isWritten = (text: string, change: DefaultChange): boolean => {
  const document = parseDocument(text);
  return document.getIn(pathOf(document, change)) !== undefined;
};

/** The changed text; undefined if the file says it already. */
export const changedText = (text: string, change: DefaultChange): string | undefined => {
  const { name, value, text: written } = change;
  const document = parseDocument(text);
  const path = pathOf(document, change);
  const before = document.getIn(path);
  if (value === undefined) {
    if (before === undefined) return undefined;
    document.deleteIn(path);
    for (let at = path.slice(0, -1); at.length > 0; at = at.slice(0, -1)) {
      const left = document.getIn(at);
      if (isMap(left) && left.items.length === 0) document.deleteIn(at);
    }
  } else {
    const read = before === undefined ? undefined : readDefault(name, before);
    if (read?.ok === true && read.value === value) return undefined;
    document.setIn(path, written);
  }
  return isMap(document.contents) && document.contents.items.length === 0 && document.comment === null
    ? ""
    : document.toString({ lineWidth: 0 });
};

/** Its text, if it can be changed: a file that is no YAML would be written anew without what it said. */
const textToChange = (file: DefaultsFile): string | undefined => {
  try {
    const text = textOf(file);
    parseDefaults(file, text ?? "");
    return text;
  } catch (cause) {
    throw new HoldfastError("INVALID_REQUEST", `${(cause as Error).message}.`, {
      suggestion: "Mend it in an editor first.",
      phase: "validation",
    });
  }
};

/** Writes a change. Returns what became of the file's value. */
export const changeDefault = (
  file: DefaultsFile,
  change: DefaultChange,
): "created" | "updated" | "deleted" | "noop" => {
  const before = textToChange(file);
  const text = changedText(before ?? "", change);
  if (text === undefined) return "noop";
  const hadValue = isWritten(before ?? "", change);
  mkdirSync(dirname(file.path), { recursive: true });
  replaceFile(before === undefined ? file.path : realpathSync(file.path), text);
  if (change.value === undefined) return "deleted";
  return hadValue ? "updated" : "created";
};
