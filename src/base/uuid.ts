/** UUIDs, for programs that take a UUID as an id. Apart from ids.ts, because the client loads it too. */
import { createHash } from "node:crypto";

/** Gives the same UUID for the same text, in the form of version 4, which every program accepts. */
export const uuidFor = (text: string): string =>
  createHash("sha256")
    .update(text)
    .digest("hex")
    .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-4$3-8$4-$5");
