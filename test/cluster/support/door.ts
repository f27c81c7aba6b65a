/** A way to a store that can be shut: then it rejects what it is asked, and does not do it. */
import type { ClusterStore } from "../../../src/cluster/store.ts";

export class Door {
  isShut = false;
  readonly store: ClusterStore;

  constructor(behind: ClusterStore) {
    this.store = new Proxy(behind, {
      get:
        (rows, name) =>
        (...values: readonly unknown[]) => {
          if (this.isShut) return Promise.reject(new Error("The door is shut."));
          const method = Reflect.get(rows, name) as (...values: readonly unknown[]) => unknown;
          return method.apply(rows, [...values]);
        },
    });
  }
}
