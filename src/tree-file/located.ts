/** The values of a file with the place of each, so that a mistake found late still has its line and column. */

/** Line and column count from 1; a column is a UTF-16 unit, as editors count. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface LocatedScalar {
  readonly type: "scalar";
  readonly place: Place;
  readonly value: string | number | boolean | null;
  /** As it is written: `010` and `1.10` are not what their numbers print. */
  readonly source: string;
}
export interface LocatedList {
  readonly type: "list";
  readonly place: Place;
  readonly items: readonly Located[];
}
export interface LocatedMap {
  readonly type: "map";
  readonly place: Place;
  readonly entries: ReadonlyMap<string, { readonly key: Place; readonly value: Located }>;
}
export type Located = LocatedScalar | LocatedList | LocatedMap;

/** The value without its places. `asText` keeps numbers and words such as `true` as they are written: `argv: [sleep, 60]`. */
export const plain = (node: Located, asText = false): unknown => {
  switch (node.type) {
    case "scalar":
      return asText && node.value !== null ? node.source : node.value;
    case "list":
      return node.items.map((item) => plain(item, asText));
    case "map":
      return Object.fromEntries([...node.entries].map(([key, { value }]) => [key, plain(value, asText)]));
  }
};

export const valueAt = (node: Located, path: readonly PropertyKey[]): Located | undefined => {
  let at: Located | undefined = node;
  for (const key of path) {
    if (at?.type === "map") at = at.entries.get(String(key))?.value;
    else if (at?.type === "list") at = at.items[Number(key)];
    else return undefined;
  }
  return at;
};

/** The place of a key of a map; the map itself where it has none. */
export const placeOfKey = (node: Located | undefined, key: string, otherwise: Place): Place =>
  (node?.type === "map" ? node.entries.get(key)?.key : undefined) ?? node?.place ?? otherwise;

export const withoutKeys = (map: LocatedMap, keys: readonly string[]): LocatedMap => ({
  ...map,
  entries: new Map([...map.entries].filter(([key]) => !keys.includes(key))),
});

/** RFC 7396: maps are merged, `null` takes a key away, anything else replaces. Every value keeps the place where it was written. */
export const mergePatch = (target: Located | undefined, patch: Located): Located => {
  if (patch.type !== "map") return patch;
  const entries = new Map(target?.type === "map" ? target.entries : []);
  for (const [key, { key: place, value }] of patch.entries) {
    if (value.type === "scalar" && value.value === null) entries.delete(key);
    else entries.set(key, { key: place, value: mergePatch(entries.get(key)?.value, value) });
  }
  return { ...patch, place: target?.place ?? patch.place, entries };
};

/** A value in words, for a sentence: `not a list`. */
export const describe = (node: Located): string => {
  if (node.type === "list") return "a list";
  if (node.type === "map") return "a map";
  if (node.value === null) return "nothing";
  const text = node.source.length > 60 ? `${node.source.slice(0, 60)}…` : node.source;
  return typeof node.value === "string" ? JSON.stringify(text) : text;
};
