/** The example bridge in Erlang (examples/beam), and whether this machine can run it. */
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";

export const BEAM_BRIDGE = resolve(import.meta.dirname, "../../examples/beam/bridge.escript");

const hasJiffy = () =>
  spawnSync(
    "erl",
    ["-noshell", "-eval", "case code:ensure_loaded(jiffy) of {module, _} -> halt(0); _ -> halt(1) end."],
    {
      timeout: 60_000,
    },
  ).status === 0;

export const hasBeam = hasJiffy();
if (!hasBeam)
  process.stderr.write(
    "SKIPPED: the bridge in Erlang. Erlang or jiffy is not installed (apt install erlang-base erlang-jiffy)\n",
  );
