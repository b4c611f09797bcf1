/** JSON Schema as far as tools need it: the TypeScript type that a schema describes, and a check at run time. */

/** A schema of the supported kinds; other keywords are sent to the model and not checked here. */
export interface JsonSchema {
  readonly type?: "object" | "array" | "string" | "number" | "integer" | "boolean" | "null";
  readonly description?: string;
  readonly properties?: { readonly [name: string]: JsonSchema };
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly enum?: readonly (string | number | boolean | null)[];
  readonly const?: string | number | boolean | null;
  readonly anyOf?: readonly JsonSchema[];
  readonly [keyword: string]: unknown;
}

type Flat<T> = { [K in keyof T]: T[K] };

type Members<P, Required> = Flat<
  { -readonly [K in keyof P as K extends Required ? K : never]: FromSchema<P[K]> } & {
    -readonly [K in keyof P as K extends Required ? never : K]?: FromSchema<P[K]>;
  }
>;

/** The type of the values that a schema describes. */
export type FromSchema<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly anyOf: readonly (infer A)[] }
      ? FromSchema<A>
      : S extends { readonly type: "string" }
        ? string
        : S extends { readonly type: "number" | "integer" }
          ? number
          : S extends { readonly type: "boolean" }
            ? boolean
            : S extends { readonly type: "null" }
              ? null
              : S extends { readonly type: "array"; readonly items: infer I }
                ? FromSchema<I>[]
                : S extends { readonly type: "array" }
                  ? unknown[]
                  : S extends { readonly type: "object"; readonly properties: infer P }
                    ? Members<P, S extends { readonly required: readonly (infer R)[] } ? R : never>
                    : S extends { readonly type: "object" }
                      ? Record<string, unknown>
                      : unknown;

/** What is wrong with a value, or nothing. */
export function mismatch(schema: JsonSchema, value: unknown, path = "arguments"): string | undefined {
  if (schema.const !== undefined && value !== schema.const) {
    return `${path} must be ${JSON.stringify(schema.const)}`;
  }
  if (schema.enum && !schema.enum.some((allowed) => allowed === value)) {
    return `${path} must be one of ${JSON.stringify(schema.enum)}`;
  }
  if (schema.anyOf) {
    const problems = schema.anyOf.map((choice) => mismatch(choice, value, path));
    if (!problems.includes(undefined)) return problems[0];
  }
  if (schema.type && !hasType(schema.type, value)) return `${path} must be of type ${schema.type}`;
  if (Array.isArray(value)) return first(value.map((item, at) => wrongMember(schema.items, item, `${path}[${at}]`)));
  if (typeof value === "object" && value !== null) return wrongObject(schema, value as Record<string, unknown>, path);
  return undefined;
}

function wrongObject(schema: JsonSchema, value: Record<string, unknown>, path: string): string | undefined {
  const missing = schema.required?.find((name) => !Object.hasOwn(value, name));
  if (missing !== undefined) return `${path}.${missing} is missing`;
  const problems = Object.entries(value).map(([name, member]) => {
    const known = schema.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    const other = schema.additionalProperties;
    if (!known && other === false) return `${path}.${name} is unknown`;
    return wrongMember(known ?? (typeof other === "object" ? other : undefined), member, `${path}.${name}`);
  });
  return first(problems);
}

function wrongMember(schema: JsonSchema | undefined, value: unknown, path: string): string | undefined {
  return schema && mismatch(schema, value, path);
}

function first(problems: (string | undefined)[]): string | undefined {
  return problems.find((problem) => problem !== undefined);
}

function hasType(type: NonNullable<JsonSchema["type"]>, value: unknown): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}
