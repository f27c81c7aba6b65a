/** A prompt of an editor as the text of a message. Pure. */
import type { ContentBlock } from "@agentclientprotocol/sdk";

/** Texts, embedded files and links to files, each after an empty line; pictures and sound are not offered, so none come. */
export const promptText = (blocks: readonly ContentBlock[]): string =>
  blocks.flatMap((block) => partOf(block) ?? []).join("\n\n");

const partOf = (block: ContentBlock): string | undefined => {
  switch (block.type) {
    case "text":
      return block.text;
    case "resource_link":
      return pathOf(block.uri);
    case "resource":
      return "text" in block.resource
        ? `${pathOf(block.resource.uri)}:\n\n${block.resource.text}`
        : pathOf(block.resource.uri);
    default:
      return undefined;
  }
};

const pathOf = (uri: string): string =>
  uri.startsWith("file://") ? decodeURIComponent(uri.slice("file://".length)) : uri;
