/** Imported before everything else by the daemon's program, for its effect. */
import { closeInherited } from "./inherited.ts";

closeInherited();
