/**
 * Confines the files of a skill to its workspace (protocol-v1.txt, Security invariants: canonical absolute paths only; notes
 * 2.13). A path is walked name by name, and each link on it is resolved here, so that nothing outside the workspace is looked
 * at. Another process can swap a link in between: a file is therefore opened without following links, and what was opened
 * is then looked up again. Hard links and mounts inside a workspace belong to it.
 */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readlinkSync,
  realpathSync,
  type Stats,
} from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { NotRegularError, openRegular, READ, statAt } from "../base/files/regular-file.ts";
import { DIRECTORY_NAMES_MAX, LINKS_OF_PATH_MAX, SKILL_PATH_MAX_BYTES } from "../base/limits.ts";
import { HoldfastError } from "../protocol/errors.ts";

/** The rule that a refused path breaks: `details.rule` of the error. */
export type PathRule =
  | "nul"
  | "path_length"
  | "parent_segment"
  | "outside_workspace"
  | "link_outside"
  | "too_many_links"
  | "irregular_file"
  | "changed_while_opening";

/** Linux tells here by which path each open file can be reached now. */
const FD_LINKS = "/proc/self/fd";
const HAS_FD_LINKS = existsSync(FD_LINKS);

export interface ConfinedFile {
  /** Canonical and absolute. */
  readonly path: string;
  /** The caller closes it. */
  readonly fd: number;
}

export class WorkspaceFiles {
  /** Canonical and absolute. */
  readonly root: string;
  private readonly given: string;

  /** Fails with CWD_NOT_FOUND if the workspace is no directory. */
  constructor(workspace: string) {
    try {
      this.root = realpathSync.native(workspace);
    } catch (cause) {
      throw new HoldfastError("CWD_NOT_FOUND", `The workspace ${workspace} does not exist.`, { cause });
    }
    this.given = workspace.length > 1 ? workspace.replace(/\/+$/, "") : workspace;
  }

  /**
   * The canonical absolute path of an existing file or directory, which may be given relative to the workspace. Fails with
   * POLICY_VIOLATION, whose `details.rule` is a PathRule, and with FILE_NOT_FOUND.
   */
  resolve(path: string): string {
    const pending = this.segments(path).reverse();
    let at = this.root;
    let links = 0;
    for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
      if (name === "" || name === ".") continue;
      if (name === "..") {
        if (at === this.root) throw refused("link_outside", path);
        at = dirname(at);
        continue;
      }
      const next = join(at, name);
      const stats = ofSystem(path, () => statAt(next));
      if (stats === undefined) throw notFound(path);
      if (!stats.isSymbolicLink()) {
        at = next;
        continue;
      }
      links += 1;
      if (links > LINKS_OF_PATH_MAX) throw refused("too_many_links", path);
      const target = ofSystem(path, () => readlinkSync(next));
      const below = isAbsolute(target) ? this.below(target) : target.split("/");
      if (below === undefined) throw refused("link_outside", path);
      if (isAbsolute(target)) at = this.root;
      pending.push(...below.reverse());
    }
    return at;
  }

  isDirectory(path: string): boolean {
    const canonical = this.resolve(path);
    return ofSystem(path, () => statAt(canonical))?.isDirectory() === true;
  }

  /** Opens a regular file to read it. */
  file(path: string): ConfinedFile {
    const canonical = this.resolve(path);
    const fd = ofSystem(path, () => openRegular(canonical, READ));
    this.confirm(fd, canonical);
    return { path: canonical, fd };
  }

  directory(path: string): ConfinedDirectory {
    const canonical = this.resolve(path);
    const fd = ofSystem(path, () => openSync(canonical, DIRECTORY));
    this.confirm(fd, canonical);
    return new ConfinedDirectory(canonical, fd, (opened, below) => this.confirm(opened, below));
  }

  /** Closes the file and fails unless it lies in the workspace now, whatever was under its name before. */
  private confirm(fd: number, path: string): void {
    try {
      const isInside = HAS_FD_LINKS
        ? this.below(readlinkSync(`${FD_LINKS}/${fd}`)) !== undefined
        : isSame(fd, this.resolve(path));
      if (!isInside) throw refused("changed_while_opening", path);
    } catch (cause) {
      closeSync(fd);
      throw cause;
    }
  }

  private segments(path: string): string[] {
    if (path.includes("\0")) throw refused("nul", path.replaceAll("\0", "\\0"));
    if (Buffer.byteLength(path) > SKILL_PATH_MAX_BYTES) throw refused("path_length", `${path.slice(0, 64)}…`);
    const names = path.split("/");
    const below = isAbsolute(path) ? this.below(path) : names;
    if (below === undefined) throw refused("outside_workspace", path);
    if (names.includes("..")) throw refused("parent_segment", path);
    return below;
  }

  /** The names of an absolute path below the workspace, by its canonical or its given name; undefined for any other. */
  private below(path: string): string[] | undefined {
    for (const root of [this.root, this.given]) {
      if (path === root) return [];
      const prefix = root === "/" ? root : `${root}/`;
      if (path.startsWith(prefix)) return path.slice(prefix.length).split("/");
    }
    return undefined;
  }
}

/** An open directory. Its entries are reached through it, so that no link on the way to it can be swapped. */
export class ConfinedDirectory {
  /** Canonical and absolute. */
  readonly path: string;
  private readonly fd: number;
  private readonly confirm: (fd: number, path: string) => void;

  constructor(path: string, fd: number, confirm: (fd: number, path: string) => void) {
    this.path = path;
    this.fd = fd;
    this.confirm = confirm;
  }

  /** The names of all entries, in the order of their code units. Fails if there are more than DIRECTORY_NAMES_MAX. */
  names(): readonly string[] {
    const names: string[] = [];
    ofSystem(this.path, () => {
      const entries = opendirSync(this.at(""));
      try {
        for (let entry = entries.readSync(); entry !== null; entry = entries.readSync()) {
          if (names.length === DIRECTORY_NAMES_MAX) throw tooMany(this.path);
          names.push(entry.name);
        }
      } finally {
        entries.closeSync();
      }
    });
    return names.sort((a, b) => (a < b ? -1 : 1));
  }

  /** The entry itself, even if it is a link; undefined if it is gone. */
  stat(name: string): Stats | undefined {
    return ofSystem(join(this.path, name), () => statAt(this.at(name)));
  }

  /** The text of a link; undefined if there is none. */
  link(name: string): string | undefined {
    try {
      return readlinkSync(this.at(name));
    } catch {
      return undefined;
    }
  }

  /** Opens a directory in this one; undefined for a link, for what is gone, and for what this user may not read. */
  directory(name: string): ConfinedDirectory | undefined {
    const path = join(this.path, name);
    const fd = ifReadable(path, () => this.opened(path, openSync(this.at(name), DIRECTORY)));
    return fd === undefined ? undefined : new ConfinedDirectory(path, fd, this.confirm);
  }

  /** Opens a regular file in this directory to read it; undefined as with `directory`. */
  file(name: string): ConfinedFile | undefined {
    const path = join(this.path, name);
    const fd = ifReadable(path, () => this.opened(path, openRegular(this.at(name), READ)));
    return fd === undefined ? undefined : { path, fd };
  }

  close(): void {
    closeSync(this.fd);
  }

  private opened(path: string, fd: number): number {
    this.confirm(fd, path);
    return fd;
  }

  private at(name: string): string {
    return join(HAS_FD_LINKS ? `${FD_LINKS}/${this.fd}/` : this.path, name);
  }
}

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

const isSame = (fd: number, path: string): boolean => {
  const [opened, named] = [fstatSync(fd), lstatSync(path)];
  return opened.dev === named.dev && opened.ino === named.ino;
};

const SENTENCES: Readonly<Record<PathRule, string>> = {
  nul: "has a NUL character",
  path_length: `has more than ${SKILL_PATH_MAX_BYTES} bytes`,
  parent_segment: "has a `..`",
  outside_workspace: "is outside the workspace",
  link_outside: "leads out of the workspace by a link",
  too_many_links: `leads through more than ${LINKS_OF_PATH_MAX} links`,
  irregular_file: "is no regular file",
  changed_while_opening: "was replaced while it was opened",
};

const refused = (rule: PathRule, path: string): HoldfastError =>
  new HoldfastError("POLICY_VIOLATION", `The path ${path} ${SENTENCES[rule]}.`, {
    suggestion: "Give the path of a file in the workspace, without `..`.",
    details: { rule, path },
  });

const notFound = (path: string, cause?: unknown): HoldfastError =>
  new HoldfastError("FILE_NOT_FOUND", `There is no ${path} in the workspace.`, { details: { path }, cause });

const tooMany = (path: string): HoldfastError =>
  new HoldfastError("OUTPUT_TOO_LARGE", `${path} has more than ${DIRECTORY_NAMES_MAX} entries.`, {
    suggestion: "Name a smaller directory below it.",
    details: { path, limit: DIRECTORY_NAMES_MAX },
  });

/** Calls the system, and says what its errors mean for a path of the workspace. */
const ofSystem = <T>(path: string, call: () => T): T => {
  try {
    return call();
  } catch (cause) {
    throw fileError(cause, path);
  }
};

const UNREADABLE: ReadonlySet<string> = new Set([
  "FILE_NOT_FOUND",
  "INVALID_REQUEST",
  "PERMISSION_DENIED",
  "POLICY_VIOLATION",
]);

const ifReadable = <T>(path: string, call: () => T): T | undefined => {
  try {
    return ofSystem(path, call);
  } catch (cause) {
    if (cause instanceof HoldfastError && UNREADABLE.has(cause.code)) return undefined;
    throw cause;
  }
};

const fileError = (cause: unknown, path: string): unknown => {
  if (cause instanceof HoldfastError) return cause;
  if (cause instanceof NotRegularError) return refused("irregular_file", path);
  const { code } = cause as NodeJS.ErrnoException;
  if (code === "ENOENT") return notFound(path, cause);
  // A link that is none any more, or a name that is one now.
  if (code === "EINVAL" || code === "ELOOP") return refused("changed_while_opening", path);
  if (code === "EACCES" || code === "EPERM")
    return new HoldfastError("PERMISSION_DENIED", `The system does not let this user read ${path}.`, {
      cause,
    });
  if (code === "ENOTDIR")
    return new HoldfastError("INVALID_REQUEST", `${path} is no directory.`, { details: { path }, cause });
  return new HoldfastError("FILE_FAILED", `${path} cannot be read: ${code ?? "unknown error"}.`, {
    details: { path, errno: code },
    cause,
  });
};
