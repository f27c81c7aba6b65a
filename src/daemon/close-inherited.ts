/** Imported first by the daemon's program, for its side effect. */
import { closeInherited } from "./inherited.ts";

closeInherited();
