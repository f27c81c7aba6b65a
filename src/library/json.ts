/** JSON as arguments and answers of the library have it. */

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** Accepts readonly lists. */
export type DeepReadonly<T> = T extends readonly (infer One)[]
  ? readonly DeepReadonly<One>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;
