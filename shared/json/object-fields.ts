import { isJsonObject, type JsonObject } from './fold.ts'

/** The text under a key; '' where there is none, or something else. */
export function textIn(object: JsonObject, key: string): string {
  const value = object[key]
  return typeof value === 'string' ? value : ''
}

export function objectIn(object: JsonObject, key: string): JsonObject {
  const value = object[key]
  return isJsonObject(value) ? value : {}
}

export function listIn(object: JsonObject, key: string): readonly unknown[] {
  const value = object[key]
  return Array.isArray(value) ? (value as readonly unknown[]) : []
}
