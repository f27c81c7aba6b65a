/** The values of a file with their places, so that a mistake found late still has its line and column. */

/** Line and column count from 1; a column is a UTF-16 unit, as in editors. */
export interface FilePlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface LocatedScalar {
  readonly type: "scalar";
  readonly place: FilePlace;
  readonly value: string | number | boolean | null;
  /** The text as written: `010` and `1.10` would print differently as numbers. */
  readonly source: string;
}
export interface LocatedList {
  readonly type: "list";
  readonly place: FilePlace;
  readonly items: readonly LocatedValue[];
}
export interface LocatedMap {
  readonly type: "map";
  readonly place: FilePlace;
  readonly entries: ReadonlyMap<string, { readonly key: FilePlace; readonly value: LocatedValue }>;
}
export type LocatedValue = LocatedScalar | LocatedList | LocatedMap;

/** The value without its places. `asText` keeps numbers, and words such as `true`, as written: `argv: [sleep, 60]`. */
export const plain = (node: LocatedValue, asText = false): unknown => {
  switch (node.type) {
    case "scalar":
      return asText && node.value !== null ? node.source : node.value;
    case "list":
      return node.items.map((item) => plain(item, asText));
    case "map":
      return Object.fromEntries([...node.entries].map(([key, { value }]) => [key, plain(value, asText)]));
  }
};

export const valueAt = (node: LocatedValue, path: readonly PropertyKey[]): LocatedValue | undefined => {
  let at: LocatedValue | undefined = node;
  for (const key of path) {
    if (at?.type === "map") at = at.entries.get(String(key))?.value;
    else if (at?.type === "list") at = at.items[Number(key)];
    else return undefined;
  }
  return at;
};

/** The place of a key in a map; the place of the map itself if it lacks the key. */
export const placeOfKey = (node: LocatedValue | undefined, key: string, otherwise: FilePlace): FilePlace =>
  (node?.type === "map" ? node.entries.get(key)?.key : undefined) ?? node?.place ?? otherwise;

export const withoutKeys = (map: LocatedMap, keys: readonly string[]): LocatedMap => ({
  ...map,
  entries: new Map([...map.entries].filter(([key]) => !keys.includes(key))),
});

/** RFC 7396: maps are merged, `null` removes a key, any other value replaces. Every value keeps its own place. */
export const mergePatch = (target: LocatedValue | undefined, patch: LocatedValue): LocatedValue => {
  if (patch.type !== "map") return patch;
  const entries = new Map(target?.type === "map" ? target.entries : []);
  for (const [key, { key: place, value }] of patch.entries) {
    if (value.type === "scalar" && value.value === null) entries.delete(key);
    else entries.set(key, { key: place, value: mergePatch(entries.get(key)?.value, value) });
  }
  return { ...patch, place: target?.place ?? patch.place, entries };
};

/** A value in words, for sentences: `not a list`. */
export const describe = (node: LocatedValue): string => {
  if (node.type === "list") return "a list";
  if (node.type === "map") return "a map";
  if (node.value === null) return "nothing";
  const text = node.source.length > 60 ? `${node.source.slice(0, 60)}…` : node.source;
  return typeof node.value === "string" ? JSON.stringify(text) : text;
};
