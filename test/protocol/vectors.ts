/**
 * Test vectors of other projects (`protocol-v1/`, `response-envelope/`, `weblisk/jcs/`). They are not part of this repository: where
 * ../shared/data has them beside the clone they are read, else the tests that need them are skipped, and each says so in its title.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = new URL("../../../shared/data/", import.meta.url).pathname;

export const hasVectors = (folder: string): boolean => existsSync(join(root, folder));
export const vectorNames = (folder: string): string[] =>
  hasVectors(folder) ? readdirSync(join(root, folder)) : [];
export const vector = (...path: string[]): string => readFileSync(join(root, ...path), "utf8");
