/** A mount namespace of the nemesis's own, in which it can fill a disk that is nobody else's. */
import { spawnSync } from "node:child_process";

/** With the rights of root, or by a user namespace where the kernel allows one. */
const WAYS = [
  ["unshare", "--mount"],
  ["unshare", "--map-root-user", "--mount"],
];

/** The words before a command so that it may mount; undefined where no such namespace can be made. */
export const mayMount = (): readonly string[] | undefined =>
  WAYS.find(
    ([program, ...args]) =>
      spawnSync(program as string, [...args, "mount", "-t", "tmpfs", "none", "/mnt"], { stdio: "ignore" })
        .status === 0,
  );

export const mount = (...args: readonly string[]): void => {
  const { status, stderr } = spawnSync("mount", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`mount ${args.join(" ")}: ${stderr}`);
};
