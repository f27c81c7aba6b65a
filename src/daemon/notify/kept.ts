/** The file of the outbox, `notifications.json` in the state directory: replaced as a whole, one write at a time, synced. */
import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { crashPoint } from "../../base/crash-point.ts";
import { readNamed } from "../../base/files/regular-file.ts";
import { NOTIFY_FILE_MAX_BYTES } from "../../base/limits.ts";
import { EMPTY_OUTBOX, type NoticeBox } from "../../control/notify/outbox.ts";
import type { KeptLink } from "./links.ts";

export interface KeptNotifications {
  readonly outbox: NoticeBox;
  readonly links: readonly KeptLink[];
}

/** The daemon's own file: its parts are as it wrote them, or it is not taken. */
const File = z.object({
  version: z.literal(1),
  outbox: z.custom<NoticeBox>((value) => {
    const { pending, dead } = (value ?? {}) as Partial<NoticeBox>;
    return Array.isArray(pending) && Array.isArray(dead) && dead.every(({ notice }) => notice !== undefined);
  }),
  links: z.array(z.custom<KeptLink>((value) => typeof value === "object" && value !== null)),
});

const EMPTY: KeptNotifications = { outbox: EMPTY_OUTBOX, links: [] };

export const notificationsPath = (stateDir: string): string => join(stateDir, "notifications.json");

/** Empty if there is no file. Throws if it cannot be read, or is not what the daemon wrote. */
export const readKept = (path: string): KeptNotifications => {
  let bytes: Buffer | undefined;
  try {
    bytes = readNamed(path, NOTIFY_FILE_MAX_BYTES);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return EMPTY;
    throw cause;
  }
  if (bytes === undefined) throw new Error(`${path} is over ${NOTIFY_FILE_MAX_BYTES} bytes.`);
  return File.parse(JSON.parse(bytes.toString("utf8")));
};

/** Writes the newest state; calls during a write share the next one. */
export class KeptFileWriter {
  private readonly path: string;
  private readonly state: () => KeptNotifications;
  private writing: Promise<void> | undefined;
  private next: Promise<void> | undefined;

  constructor(path: string, state: () => KeptNotifications) {
    this.path = path;
    this.state = state;
  }

  /** Resolves once a state at least as new as that of the call is on the disk. Rejects with the system's error. */
  save(): Promise<void> {
    if (this.writing === undefined) {
      const writing = this.write();
      this.writing = writing;
      writing.then(this.finished, this.finished);
      return writing;
    }
    this.next ??= this.writing.then(
      () => this.again(),
      () => this.again(),
    );
    return this.next;
  }

  private readonly finished = (): void => {
    this.writing = undefined;
  };

  private again(): Promise<void> {
    this.next = undefined;
    return this.save();
  }

  private async write(): Promise<void> {
    const text = JSON.stringify({ version: 1, ...this.state() });
    const fresh = `${this.path}.new`;
    await rm(fresh, { force: true });
    const file = await open(fresh, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    crashPoint("notify-before-name");
    await rename(fresh, this.path);
  }
}
