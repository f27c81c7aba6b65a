/**
 * The link at the documented path, `$XDG_RUNTIME_DIR/holdfast/agent.sock`, for programs that look for the
 * socket there.
 */
import { lstatSync, readlinkSync, symlinkSync, unlinkSync } from "node:fs";
import { dirname } from "node:path";
import { tryConnect } from "./connect.ts";
import { ensurePrivateDirectory } from "./private-directory.ts";

/**
 * Points `link` at `socket`, unless a daemon of another state directory answers there. True if the link now
 * points at `socket`.
 */
export const linkSocket = async (link: string, socket: string): Promise<boolean> => {
  ensurePrivateDirectory(dirname(link));
  if (lstatSync(link, { throwIfNoEntry: false }) !== undefined) {
    if (pointsTo(link, socket)) return true;
    const other = await tryConnect(link);
    other?.destroy();
    if (other !== undefined) return false;
    unlinkSync(link);
  }
  symlinkSync(socket, link);
  return true;
};

/** True if the link had to be made again. */
export const keepLink = async (link: string, socket: string): Promise<boolean> =>
  !pointsTo(link, socket) && (await linkSocket(link, socket));

export const unlinkSocket = (link: string, socket: string): void => {
  if (pointsTo(link, socket)) unlinkSync(link);
};

const pointsTo = (link: string, socket: string): boolean => {
  try {
    return readlinkSync(link) === socket;
  } catch {
    return false;
  }
};
