import { Releaser } from "../../src/adapters/process/release.ts";
import { SpoolSource } from "../../src/adapters/process/spool-source.ts";

/** A file that a test writes, as the output of a run. */
export const fileSource = (path: string): SpoolSource => new SpoolSource(path, new Releaser(() => undefined));
