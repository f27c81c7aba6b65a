/** The program behind `bin/agent`. */
import { run } from "./run.ts";
import { exitAfterWriting, processStreams } from "./streams.ts";

exitAfterWriting(await run(process.argv.slice(2), processStreams(), process.env, 0));
