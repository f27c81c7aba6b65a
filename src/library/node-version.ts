/**
 * Each entry point of the library imports this first. The imports after it do not load under an old Node; they would fail
 * with the message of some dependency.
 */

import { NODE_MIN } from "../base/limits.ts";
import { HoldfastError } from "../protocol/errors.ts";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1]))
  throw new HoldfastError("RUNTIME_TOO_OLD", `This is Node ${process.versions.node}, which is too old.`, {
    suggestion: `Install Node ${NODE_MIN.join(".")} or newer.`,
  });
