/** Names of branches. */
import { BRANCH_MAX_BYTES } from "./limits.ts";

/** Branch names that are allowed here. git allows more, but reads some of them as a flag or a range. */
const BRANCH_NAME = /^[A-Za-z0-9][A-Za-z0-9._/+@-]*$/;
export const isBranchName = (name: string): boolean =>
  name.length <= BRANCH_MAX_BYTES && BRANCH_NAME.test(name);
