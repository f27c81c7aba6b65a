/** Checks whether this version can open a log while another daemon still writes to it. Changes nothing. */
import { existsSync } from "node:fs";
import { STORE_BUSY_MAX_MS } from "../../base/limits.ts";
import { openDatabase } from "./database.ts";
import { guarded } from "./failure.ts";
import { refuseNewer } from "./migrations/migrate.ts";

/** Throws STORE_FAILED for a log of a newer version. A missing log is fine. */
export const checkReadable = guarded((file: string): void => {
  if (!existsSync(file)) return;
  const db = openDatabase(file, { readonly: true, timeout: STORE_BUSY_MAX_MS });
  try {
    refuseNewer(db.pragma("user_version", { simple: true }) as number);
  } finally {
    db.close();
  }
});
