/** The resources of `agent mcp serve`: the tree, a worker, its output, and the diff of its changes. */
import { MCP_SERVED_MAX_BYTES, MCP_SERVED_WORKERS } from "../../base/limits.ts";
import { cutUtf8 } from "../../protocol/bounds.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { boundedJson } from "./answers.ts";
import { CALLS, type CallGround } from "./calls.ts";

const TREE = "holdfast://tree";
const JSON_TYPE = "application/json";

export const TEMPLATES = [
  { uriTemplate: "holdfast://worker/{id}", name: "worker", mimeType: JSON_TYPE },
  { uriTemplate: "holdfast://worker/{id}/output", name: "output of a worker", mimeType: "text/plain" },
  { uriTemplate: "holdfast://worker/{id}/diff", name: "changes of a worker", mimeType: "text/x-diff" },
];

/** The tree, and the living workers in sight, as far as a page of them goes. */
export const listResources = async (ground: CallGround) => {
  const { link, scope, signal } = ground;
  const below = scope.worker === undefined ? {} : { below: scope.worker };
  const { workers } = await link.ask("agent/list", { limit: MCP_SERVED_WORKERS, ...below }, signal);
  return [
    { uri: TREE, name: "tree", mimeType: JSON_TYPE },
    ...workers.map(({ id, name, task }) => ({
      uri: `holdfast://worker/${id}`,
      name: name ?? id,
      description: cutUtf8(task, 256),
      mimeType: JSON_TYPE,
    })),
  ];
};

const WORKER_URI = /^holdfast:\/\/worker\/([^/]+)(?:\/(output|diff))?$/;

/** Rejects with WORKER_NOT_FOUND for anything that is not there, or not in sight. */
export const readResource = async (
  ground: CallGround,
  uri: string,
  artifact: (digest: string) => Promise<Uint8Array>,
): Promise<{ readonly uri: string; readonly mimeType: string; readonly text: string }> => {
  if (uri === TREE) return { uri, mimeType: JSON_TYPE, text: boundedJson(await CALLS.tree(ground, {})) };
  const [, encoded, part] = WORKER_URI.exec(uri) ?? [];
  if (encoded === undefined)
    throw new HoldfastError("WORKER_NOT_FOUND", `There is no resource ${uri}.`, {
      suggestion: "Resources are holdfast://tree and holdfast://worker/ID, ID/output and ID/diff.",
    });
  const id = decodeURIComponent(encoded);
  if (part === undefined)
    return { uri, mimeType: JSON_TYPE, text: boundedJson(await CALLS.info(ground, { id })) };
  if (part === "output") {
    const { text } = (await CALLS.output(ground, { id })) as { readonly text: string };
    return { uri, mimeType: "text/plain", text };
  }
  const { diff } = await ground.link.ask(
    "agent/changes",
    { id: await ground.scope.refOf(id) },
    ground.signal,
  );
  const bytes = diff === null ? Buffer.alloc(0) : Buffer.from(await artifact(diff.digest));
  return { uri, mimeType: "text/x-diff", text: cutUtf8(bytes.toString("utf8"), MCP_SERVED_MAX_BYTES) };
};
