/**
 * Replaces a small file, so that a reader sees the old text or the new one. On a full disk there is no room for a second file: the text
 * is written over the old one then, which has its block already; a reader may see both for a moment.
 */
import { closeSync, constants, ftruncateSync, renameSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { isFullDisk } from "../base/system-errors.ts";
import { clearName, openRegular } from "./regular-file.ts";

const FILE_MODE = 0o600;

/** Throws what the system says where neither way is open. */
export const replaceFile = (path: string, text: string): void => {
  const next = `${path}.new`;
  clearName(path);
  try {
    rmSync(next, { recursive: true, force: true });
    writeFileSync(next, text, { mode: FILE_MODE, flag: "wx" });
    renameSync(next, path);
  } catch (cause) {
    rmSync(next, { force: true });
    if (!isFullDisk(cause)) throw cause;
    overwrite(path, text, cause);
  }
};

const overwrite = (path: string, text: string, full: unknown): void => {
  let fd: number;
  try {
    fd = openRegular(path, constants.O_RDWR);
  } catch {
    throw full;
  }
  try {
    const bytes = Buffer.from(text);
    if (writeSync(fd, bytes, 0, bytes.length, 0) < bytes.length) throw full;
    ftruncateSync(fd, bytes.length);
  } finally {
    closeSync(fd);
  }
};
