/** The operator's token: a file for its owner alone, new with each server. */
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { replaceFile } from "../../base/files/replace-file.ts";
import { WEBLISK_ADMIN_TOKEN_BYTES } from "../../base/limits.ts";

export const newAdminToken = (stateDir: string): string => {
  const directory = join(stateDir, "weblisk");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const token = randomBytes(WEBLISK_ADMIN_TOKEN_BYTES).toString("hex");
  replaceFile(join(directory, "admin.token"), `${token}\n`);
  return token;
};
