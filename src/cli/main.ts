/** The program behind `bin/agent`. */
import { run } from "./run.ts";
import { endUnforeseen, exitAfterWriting, processStreams } from "./streams.ts";

// Not awaited at the top level: the client is built as CommonJS.
run(process.argv.slice(2), processStreams(), process.env, 0).then(exitAfterWriting).catch(endUnforeseen);
