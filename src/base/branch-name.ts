/** Names of branches. */
import { BRANCH_MAX_BYTES } from "./limits.ts";

/** Names that a branch may have here: git takes more, and some of it is read as a flag or a range. */
const BRANCH_NAME = /^[A-Za-z0-9][A-Za-z0-9._/+@-]*$/;
export const isBranchName = (name: string): boolean =>
  name.length <= BRANCH_MAX_BYTES && BRANCH_NAME.test(name);
