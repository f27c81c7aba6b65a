/**
 * Test vectors of other projects. They are not part of this repository: name the directory that has them in HOLDFAST_VECTORS
 * (`protocol-v1/`, `response-envelope/`, `weblisk/jcs/`), else the tests that read them are shown as skipped.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = process.env.HOLDFAST_VECTORS ?? "";

export const hasVectors = (folder: string): boolean => root !== "" && existsSync(join(root, folder));
export const vectorNames = (folder: string): string[] =>
  hasVectors(folder) ? readdirSync(join(root, folder)) : [];
export const vector = (...path: string[]): string => readFileSync(join(root, ...path), "utf8");
