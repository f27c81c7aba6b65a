/**
 * Texts that end at a time: each is encrypted under a key of its own (AES-256-GCM), and the end of the key is the end of the text,
 * also in copies of it that nobody can find (weblisk.txt, Data Boundary Contracts: `retention`). Files below `sealed/` of the state
 * directory, for their owner alone: a key is overwritten before it is removed, and a mark of the text stays for a while.
 *
 * A kill leaves, in this order: the whole text; no key, or one that is overwritten; a mark. Any of them is taken up by the next look.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  readdirSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { crashPoint } from "../crash-point.ts";
import { SEALED_FILE_MAX_BYTES, SEALED_KEY_BYTES, SEALED_LOOK_MS, SEALED_MARK_KEEP_MS } from "../limits.ts";
import { openRegular, readRegular, statRegular } from "./regular-file.ts";
import { replaceFile } from "./replace-file.ts";
import { syncPath } from "./sync-path.ts";
import { writeOnce } from "./write-once.ts";

interface SealedKey {
  /** In base64. */
  readonly key: string;
  /** When it is destroyed, in epoch milliseconds. */
  readonly until_ms: number;
  /** For whom the text is kept. */
  readonly owner: string;
}

/** In base64. */
interface SealedText {
  readonly iv: string;
  readonly tag: string;
  readonly text: string;
}

export interface SealedTerms {
  /** Epoch milliseconds. */
  readonly until_ms: number;
  readonly owner: string;
}

const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const FILE = /^([0-9a-f]{64})\.(?:key|json)$/;
/** The name of a file while it is written: its writer links the whole file to its own name, and removes this one. */
const DRAFT = /\.[0-9a-f]{16}$/;
/** In the place of a text whose key is destroyed. */
const MARK = "{}\n";

export class SealedVault {
  private readonly directory: string;

  constructor(stateDir: string) {
    this.directory = join(stateDir, "sealed");
  }

  /** Keeps a text under a name, once: the text that is kept then. `now` in epoch milliseconds. */
  seal(name: string, text: string, terms: SealedTerms, now: number): string {
    mkdirSync(this.directory, { recursive: true, mode: 0o700 });
    const id = idOf(name);
    const kept = this.keyOf(id) ?? this.makeKey(id, terms);
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, Buffer.from(kept.key, "base64"), iv).setAAD(Buffer.from(id));
    const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
    const whole: SealedText = {
      iv: iv.toString("base64"),
      tag: cipher.getAuthTag().toString("base64"),
      text: sealed.toString("base64"),
    };
    if (writeOnce(this.pathOf(id, "json"), `${JSON.stringify(whole)}\n`, newDraft())) return text;
    return this.open(name, now) ?? text;
  }

  /** The text; undefined if there is none now. */
  open(name: string, now: number): string | undefined {
    const id = idOf(name);
    const key = this.keyOf(id);
    const sealed = this.read<SealedText>(id, "json");
    if (key === undefined || sealed?.text === undefined || key.until_ms <= now) return undefined;
    const [iv, tag, text] = [sealed.iv, sealed.tag, sealed.text].map((part) => Buffer.from(part, "base64"));
    const decipher = createDecipheriv(CIPHER, Buffer.from(key.key, "base64"), iv as Buffer, {
      authTagLength: 16,
    });
    decipher.setAAD(Buffer.from(id)).setAuthTag(tag as Buffer);
    return `${decipher.update(text as Buffer, undefined, "utf8")}${decipher.final("utf8")}`;
  }

  /** Whether there was a text of this name, and its time is over. */
  isOver(name: string, now: number): boolean {
    const id = idOf(name);
    if (!existsSync(this.pathOf(id, "json"))) return false;
    const key = this.keyOf(id);
    return key === undefined || key.until_ms <= now;
  }

  /** Destroys the keys whose time is over, and those of all whom `isOwner` does not know. How many. */
  shred(now: number, isOwner: (owner: string) => boolean): number {
    this.removeDrafts(now);
    let shredded = 0;
    for (const id of new Set(this.files().flatMap((file) => FILE.exec(file)?.[1] ?? []))) {
      const key = this.keyOf(id);
      if (key !== undefined && key.until_ms > now && isOwner(key.owner)) continue;
      if (existsSync(this.pathOf(id, "key"))) {
        this.destroy(this.pathOf(id, "key"));
        shredded += 1;
        crashPoint("weblisk-step");
      }
      this.mark(id, now);
    }
    return shredded;
  }

  private files(): readonly string[] {
    return existsSync(this.directory) ? readdirSync(this.directory) : [];
  }

  /** Removes what a process left that was killed in the middle of writing. */
  private removeDrafts(now: number): void {
    for (const file of this.files().filter((name) => DRAFT.test(name))) {
      const path = join(this.directory, file);
      if ((statRegular(path)?.mtimeMs ?? 0) < now - SEALED_LOOK_MS) rmSync(path, { force: true });
    }
  }

  /** A text without a key is of no use to anybody; its mark tells for a while that it was there. */
  private mark(id: string, now: number): void {
    const path = this.pathOf(id, "json");
    const found = statRegular(path);
    if (found === undefined) return;
    if (found.size > MARK.length) replaceFile(path, MARK);
    else if (found.mtimeMs < now - SEALED_MARK_KEEP_MS) rmSync(path, { force: true });
  }

  /** The bytes of the key are gone from the disk before its name is, as far as the disk writes in place. */
  private destroy(path: string): void {
    const fd = openRegular(path, constants.O_RDWR);
    try {
      const size = statRegular(path)?.size ?? 0;
      writeSync(fd, Buffer.alloc(size), 0, size, 0);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    crashPoint("weblisk-step");
    rmSync(path, { force: true });
    syncPath(dirname(path));
    crashPoint("weblisk-step");
  }

  private makeKey(id: string, { until_ms, owner }: SealedTerms): SealedKey {
    const made = { key: randomBytes(SEALED_KEY_BYTES).toString("base64"), until_ms, owner };
    return writeOnce(this.pathOf(id, "key"), `${JSON.stringify(made)}\n`, newDraft())
      ? made
      : (this.keyOf(id) ?? made);
  }

  /** Undefined if there is none, or none that is whole. */
  private keyOf(id: string): SealedKey | undefined {
    const key = this.read<SealedKey>(id, "key");
    return key?.key === undefined ? undefined : key;
  }

  private read<T>(id: string, kind: "key" | "json"): T | undefined {
    const bytes = readRegular(this.pathOf(id, kind), SEALED_FILE_MAX_BYTES);
    try {
      return bytes === undefined ? undefined : JSON.parse(bytes.toString("utf8"));
    } catch {
      return undefined;
    }
  }

  private pathOf(id: string, kind: "key" | "json"): string {
    return join(this.directory, `${id}.${kind}`);
  }
}

const newDraft = (): string => randomBytes(8).toString("hex");
const idOf = (name: string): string => createHash("sha256").update(name).digest("hex");
