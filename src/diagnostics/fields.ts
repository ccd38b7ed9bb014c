import { z } from 'zod';

/** Returns the names of the fields that a map at a path of the data may have; none if unknown. */
export type FieldsAt = (path: readonly PropertyKey[]) => readonly string[];

/** Reads the names from a schema, at any depth of objects, lists and records. */
export function fieldsOf(schema: z.ZodType): FieldsAt {
  return (path) => {
    const inner = path.reduce<unknown>((outer, part) => memberOf(outer, part), schema);
    const map = unwrap(inner);
    return map instanceof z.ZodObject ? Object.keys(map.shape) : [];
  };
}

function memberOf(schema: unknown, part: PropertyKey): unknown {
  const outer = unwrap(schema);
  if (outer instanceof z.ZodObject) return Reflect.get(outer.shape, part);
  if (outer instanceof z.ZodArray) return outer.element;
  return outer instanceof z.ZodRecord ? outer.valueType : undefined;
}

/** Removes the wrappers that do not change which fields are accepted. */
function unwrap(schema: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) {
    return unwrap(schema.unwrap());
  }
  return schema instanceof z.ZodPipe ? unwrap(schema.in) : schema;
}
