/**
 * Replaces a small file in one step, so that a reader sees either the old text or the new one. A full disk has no room for a
 * second file, so the text is then written over the old one, which already has its block; for a moment a reader may see a
 * mix of both.
 */
import { closeSync, constants, ftruncateSync, renameSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { isFullDisk } from "../system-errors.ts";
import { clearName, openRegular } from "./regular-file.ts";

const FILE_MODE = 0o600;

/** Throws the system's error if neither way works. */
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
